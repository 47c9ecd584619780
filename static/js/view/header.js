// The head of the open conversation, and what stands in the composer's place where one cannot write.

import { conversationIcon, conversationName, dmOthers, isProcessConversation, spokenName } from "../store/names.js";
import { avatar } from "./avatar.js";
import { fill, h, icon, iconButton } from "./dom.js";
import { menu } from "./popover.js";

const LEVELS = { all: "bell", mentions: "at", none: "bell-off" };
const LEVEL_WORDS = { all: "Notified of every message", mentions: "Notified of mentions only", none: "Muted" };

export class Header {
  #head;
  #gate;
  #composer;
  #workspace;
  #directory;
  #room;
  #verbs;
  #panel;
  #drawn = "";

  /** `verbs` are the conversation's; `panel`: { isOpen(), toggle() }. */
  constructor({ head, gate, composer }, workspace, directory, room, verbs, panel) {
    this.#head = head;
    this.#gate = gate;
    this.#composer = composer;
    this.#workspace = workspace;
    this.#directory = directory;
    this.#room = room;
    this.#verbs = verbs;
    this.#panel = panel;
    workspace.addEventListener("conversations", () => this.draw());
    directory.addEventListener("change", () => this.draw());
    for (const type of ["opening", "opened"]) room.addEventListener(type, () => this.draw());
  }

  draw() {
    const conversation = this.#room.conversation;
    this.#head.hidden = !this.#room.id;
    if (!conversation) {
      this.#drawn = "";
      fill(this.#head, this.#back(), h("h1", {}, this.#room.error ? "Not here" : ""));
      this.#showGate(null);
      return;
    }
    const name = conversationName(conversation, this.#directory);
    // Drawn anew only when something changed: a menu may be open from one of these buttons.
    const { id, level, joined, archived, visibility } = conversation;
    const stamp = JSON.stringify([id, name, level, joined, archived, visibility, this.#panel.isOpen(), this.#verbs.may(conversation)]);
    if (stamp === this.#drawn) return;
    this.#drawn = stamp;
    const people = conversation.type === "dm" ? dmOthers(conversation, this.#directory) : [];
    const mark = people.length === 1 ? avatar(people[0], "small") : icon(conversationIcon(conversation));
    fill(
      this.#head,
      this.#back(),
      h("div", { class: "title" }, mark, h("h1", { dir: "auto" }, h("span", { class: "sr" }, conversation.type === "channel" ? "Channel " : ""), name)),
      conversation.archived && h("span", { class: "tag" }, "archived"),
      h("div", { class: "tools" }, this.#tools(conversation)),
    );
    this.#showGate(conversation);
  }

  #back() {
    return h("a", { class: "tool back", href: `/w/${this.#workspace.slug}/`, "aria-label": "Back to the list" }, icon("back"));
  }

  #tools(conversation) {
    const open = this.#panel.isOpen();
    return [
      conversation.joined &&
        iconButton(LEVELS[conversation.level] ?? "bell", LEVEL_WORDS[conversation.level] ?? "Notifications", (event) => this.#levels(event.currentTarget, conversation), {
          "aria-haspopup": "menu",
        }),
      iconButton("people", open ? "Close details" : "People and details", () => this.#panel.toggle(), { "aria-pressed": String(open) }),
      iconButton("more", "More", (event) => this.#more(event.currentTarget, conversation), { "aria-haspopup": "menu" }),
    ];
  }

  #levels(opener, conversation) {
    const items = [
      ["all", "Every message"],
      ["mentions", "Mentions only"],
      ["none", "Nothing"],
    ];
    menu(
      opener,
      items.map(([level, label]) => ({
        icon: conversation.level === level ? "check" : LEVELS[level],
        label: conversation.level === level ? `${label} (now)` : label,
        run: () => this.#verbs.setLevel(conversation, level),
      })),
      "Notifications",
    );
  }

  #more(opener, conversation) {
    const verbs = this.#verbs;
    const may = verbs.may(conversation);
    const joined = conversation.joined;
    const items = [
      joined && { icon: "unread", label: "Mark unread", run: () => verbs.markUnread(conversation) },
      joined && { icon: "check", label: "Mark read", run: () => verbs.markRead(conversation) },
      { icon: "link", label: "Copy link", run: () => verbs.copyLink(conversation) },
      joined && conversation.type !== "dm" && !conversation.archived && { icon: "person-add", label: "Add people…", run: () => verbs.add(conversation) },
    ];
    if (may.manage && conversation.type !== "dm") items.push({ icon: "pencil", label: "Rename…", run: () => verbs.rename(conversation) });
    const last = [
      joined && conversation.type !== "dm" && { icon: "leave", label: "Leave…", danger: true, run: () => verbs.leave(conversation) },
      may.manage &&
        (conversation.archived
          ? { icon: "restore", label: "Restore", run: () => verbs.restore(conversation) }
          : { icon: "archive", label: "Archive…", danger: true, run: () => verbs.archive(conversation) }),
    ].filter(Boolean);
    if (last.length) items.push(null, ...last);
    menu(opener, items.filter((item) => item !== false), "Conversation");
  }

  /** The composer, or why there is none and what to do about it. */
  #showGate(conversation) {
    const verbs = this.#verbs;
    const state = !conversation ? "none" : conversation.archived ? "archived" : verbs.may(conversation).post ? "open" : "join";
    this.#composer.hidden = state !== "open";
    this.#gate.hidden = state === "open" || state === "none";
    if (this.#gate.hidden) return;
    const name = spokenName(conversation, this.#directory);
    if (state === "archived") {
      const may = verbs.may(conversation).manage;
      fill(
        this.#gate,
        h("span", {}, icon("archive"), `${name} is archived. It can be read, not written in.`),
        may && h("button", { type: "button", class: "button", on: { click: () => verbs.restore(conversation) } }, "Restore"),
      );
    } else if (isProcessConversation(conversation)) {
      fill(this.#gate, h("span", {}, "Only agents and whoever started the conversation write here."));
    } else {
      fill(
        this.#gate,
        h("span", {}, `You are looking at ${name}.`),
        h("button", { type: "button", class: "button primary", on: { click: () => verbs.join(conversation) } }, "Join to write"),
      );
    }
  }
}
