// The side panel: who is in the conversation, and how one is notified of it. It has an address of its own.

import { avatar } from "./avatar.js";
import { fill, h, icon, iconButton } from "./dom.js";

const PAGE = 200;
const LEVELS = [
  ["all", "Every message"],
  ["mentions", "Mentions only"],
  ["none", "Nothing"],
];

export class Panel {
  #box;
  #api;
  #directory;
  #room;
  #verbs;
  #close;
  #members = [];
  #next = null;
  #error = "";
  #shownFor = null;
  #drawn = "";

  /** `verbs` are the conversation's. */
  constructor(box, api, workspace, directory, room, verbs, close) {
    this.#box = box;
    this.#api = api;
    this.#directory = directory;
    this.#room = room;
    this.#verbs = verbs;
    this.#close = close;
    workspace.addEventListener("conversations", () => this.#draw());
  }

  get open() {
    return !this.#box.hidden;
  }

  async show(conversationId) {
    this.#box.hidden = false;
    if (this.#shownFor === conversationId) return;
    this.#shownFor = conversationId;
    this.#members = [];
    this.#next = null;
    this.#draw();
    await this.load();
  }

  hide() {
    this.#box.hidden = true;
    this.#shownFor = null;
  }

  /** Reads the list anew, as after somebody joined. */
  async load(cursor = null) {
    const id = this.#shownFor;
    if (!id) return;
    try {
      const answer = await this.#api.get(`/conversations/${id}/members`, { limit: PAGE, cursor });
      if (id !== this.#shownFor) return;
      this.#members = cursor ? [...this.#members, ...answer.items] : answer.items;
      this.#next = answer.next;
      this.#error = "";
    } catch (error) {
      this.#error = error.message;
    }
    this.#draw();
  }

  #draw() {
    const conversation = this.#room.conversation;
    if (!this.open || !conversation || conversation.id !== this.#shownFor) return;
    const { id, level, joined, archived } = conversation;
    const stamp = JSON.stringify([id, level, joined, archived, this.#members, this.#next, this.#error]);
    if (stamp === this.#drawn) return;
    this.#drawn = stamp;
    fill(
      this.#box,
      h("header", {}, h("h2", {}, "Details"), iconButton("close", "Close details", () => this.#close())),
      h(
        "div",
        { class: "panel-body" },
        conversation.joined && this.#levels(conversation),
        h(
          "section",
          { "aria-labelledby": "panel-people" },
          h(
            "header",
            {},
            h("h3", { id: "panel-people" }, "People", this.#members.length ? ` (${this.#members.length}${this.#next ? "+" : ""})` : ""),
            conversation.joined &&
              conversation.type !== "dm" &&
              !conversation.archived &&
              h("button", { type: "button", class: "button small", on: { click: () => this.#add(conversation) } }, icon("person-add"), "Add"),
          ),
          this.#error && h("p", { class: "failure", role: "alert" }, this.#error),
          h("ul", { class: "people" }, this.#members.map((member) => this.#member(conversation, member))),
          this.#next && h("button", { type: "button", class: "button small", on: { click: () => this.load(this.#next) } }, "Show more"),
        ),
      ),
    );
  }

  #levels(conversation) {
    return h(
      "fieldset",
      { class: "choices compact" },
      h("legend", {}, "Notify me of"),
      LEVELS.map(([level, label]) =>
        h(
          "label",
          {},
          h("input", {
            type: "radio",
            name: "panel-level",
            value: level,
            checked: conversation.level === level,
            on: { change: () => this.#verbs.setLevel(conversation, level) },
          }),
          h("span", {}, label),
        ),
      ),
    );
  }

  #member(conversation, member) {
    const verbs = this.#verbs;
    const me = member.id === this.#directory.me.id;
    const removable = !me && verbs.may(conversation).manage && conversation.type !== "dm";
    return h(
      "li",
      {},
      avatar(member, "small"),
      h("span", { class: "name", dir: "auto" }, member.display_name, me && h("small", {}, " (you)")),
      h("small", {}, `@${member.username}`),
      !me && iconButton("message", `Write to ${member.display_name}`, () => verbs.direct(member)),
      removable && iconButton("close", `Remove ${member.display_name}`, () => verbs.remove(conversation, member)),
    );
  }

  async #add(conversation) {
    if (await this.#verbs.add(conversation, this.#members.map((member) => member.id))) this.load();
  }
}
