// The dialogs about conversations: create, write directly, browse and join, add people, rename, archive, leave.

import { conversationIcon, spokenName } from "../store/names.js";
import { h, icon } from "../view/dom.js";
import { choiceField, confirmDialog, formDialog, openDialog, textField } from "./dialog.js";
import { PeoplePicker } from "./people.js";

const MAX_NAME = 120;
const BROWSED = 200;
const MAX_BROWSE_PAGES = 25;

const VISIBILITY = [
  ["public", "Public", "Everybody in the workspace can find, read and join it."],
  ["private", "Private", "Only the people in it know that it exists."],
];

/** What the dialogs need: { api, workspace, directory, open(conversation) }. */
export class ConversationDialogs {
  constructor(context) {
    Object.assign(this, context);
  }

  create() {
    return formDialog({
      title: "Create a channel",
      submit: "Create",
      body: [
        textField("name", "Name", { required: true, maxlength: MAX_NAME, autofocus: true, placeholder: "for example: launch" }),
        choiceField("visibility", "Who can see it", VISIBILITY, "public"),
      ],
      run: async ({ name, visibility }) => {
        this.open(await this.api.post("/conversations", { workspace_id: this.workspace.id, type: "channel", name: name.trim(), visibility }));
      },
    });
  }

  /** A conversation with agents, owned by whoever starts it. */
  converse() {
    const picker = new PeoplePicker(this.directory, { without: [this.directory.me.id], label: "With (agents and people)" });
    return formDialog({
      title: "Start a conversation",
      submit: "Start",
      body: [picker.element, textField("name", "What about (optional)", { maxlength: MAX_NAME })],
      run: async ({ name }) => {
        const body = { workspace_id: this.workspace.id, type: "conversation", name: name.trim(), member_ids: picker.ids };
        this.open(await this.api.post("/conversations", body));
      },
    });
  }

  writeTo() {
    const picker = new PeoplePicker(this.directory, { without: [this.directory.me.id], label: "To" });
    return formDialog({
      title: "New direct message",
      submit: "Start",
      body: picker.element,
      run: async () => {
        if (!picker.ids.length) throw new Error("Choose at least one person.");
        await this.direct(picker.ids);
      },
    });
  }

  /** Opens the DM with these members, making it where there is none. */
  async direct(memberIds) {
    this.open(await this.api.post("/conversations", { workspace_id: this.workspace.id, type: "dm", member_ids: memberIds }));
  }

  add(conversation, present) {
    const picker = new PeoplePicker(this.directory, { without: present, label: "Who joins" });
    return formDialog({
      title: `Add people to ${spokenName(conversation, this.directory)}`,
      submit: "Add",
      body: picker.element,
      run: async () => {
        if (!picker.ids.length) throw new Error("Choose at least one person.");
        for (const id of picker.ids) await this.api.post(`/conversations/${conversation.id}/members`, { member_id: id });
      },
    });
  }

  rename(conversation) {
    return formDialog({
      title: `Rename ${spokenName(conversation, this.directory)}`,
      submit: "Rename",
      body: textField("name", "Name", { value: conversation.name, required: true, maxlength: MAX_NAME, autofocus: true }),
      run: async ({ name }) => {
        this.workspace.put(await this.api.patch(`/conversations/${conversation.id}`, { name: name.trim() }));
      },
    });
  }

  leave(conversation, after) {
    const text =
      conversation.visibility === "private" || conversation.type !== "channel"
        ? "You will no longer see it. Somebody in it has to add you again."
        : "It leaves your list. You can join again at any time.";
    return confirmDialog({
      title: `Leave ${spokenName(conversation, this.directory)}?`,
      text,
      submit: "Leave",
      run: async () => {
        await this.api.delete(`/conversations/${conversation.id}/members/${this.directory.me.id}`);
        after();
      },
    });
  }

  archive(conversation) {
    return confirmDialog({
      title: `Archive ${spokenName(conversation, this.directory)}?`,
      text: "Everything stays readable, and nobody can write in it. It can be restored.",
      submit: "Archive",
      run: async () => this.workspace.put(await this.api.post(`/conversations/${conversation.id}/archive`)),
    });
  }

  async restore(conversation) {
    this.workspace.put(await this.api.post(`/conversations/${conversation.id}/restore`));
  }

  browse() {
    const list = h("ul", { class: "browse" }, h("li", { class: "none" }, "Loading…"));
    const note = h("p", { class: "sr", role: "status" });
    let channels = [];
    let archived = false;
    const field = h("input", { type: "search", autofocus: true, placeholder: "Filter by name", "aria-label": "Filter channels" });
    const toggle = h("input", { type: "checkbox" });
    const draw = () => {
      const wanted = field.value.trim().toLowerCase();
      const found = channels.filter((channel) => channel.name.toLowerCase().includes(wanted));
      note.textContent = `${found.length} channels`;
      list.replaceChildren(
        ...(found.length ? found.map((channel) => this.#browsed(channel, () => close())) : [h("li", { class: "none" }, wanted ? "No channel by that name." : "No channels here yet.")]),
      );
    };
    const load = async () => {
      try {
        channels = await this.#channels(archived);
        draw();
      } catch (error) {
        list.replaceChildren(h("li", { class: "failure", role: "alert" }, error.message));
      }
    };
    field.addEventListener("input", draw);
    toggle.addEventListener("change", () => {
      archived = toggle.checked;
      load();
    });
    const head = h("div", { class: "browse-head" }, field, h("label", { class: "check" }, toggle, "Archived"));
    const { close } = openDialog({ title: "Channels", kind: "wide", body: [head, note, list] });
    load();
  }

  async #channels(archived) {
    const found = [];
    let cursor = null;
    for (let page = 0; page < MAX_BROWSE_PAGES; page += 1) {
      const answer = await this.api.get("/conversations", {
        workspace_id: this.workspace.id,
        type: "channel",
        archived: archived ? "true" : "false",
        limit: BROWSED,
        cursor,
      });
      found.push(...answer.items);
      cursor = answer.next;
      if (!cursor) break;
    }
    return found.sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
  }

  #browsed(channel, close) {
    const act = async () => {
      close();
      if (!channel.joined && !channel.archived) await this.join(channel);
      else this.open(channel);
    };
    const words = channel.joined || channel.archived ? "Open" : "Join";
    const count = channel.visible_message_count;
    return h(
      "li",
      {},
      icon(conversationIcon(channel)),
      h(
        "a",
        {
          href: `/w/${this.workspace.slug}/c/${channel.id}/`,
          on: {
            click: (event) => {
              event.preventDefault();
              close();
              this.open(channel);
            },
          },
        },
        channel.name,
      ),
      h("small", {}, `${count.toLocaleString()} ${count === 1 ? "message" : "messages"}`),
      h("button", { type: "button", class: words === "Join" ? "button primary small" : "button small", "aria-label": `${words} ${channel.name}`, on: { click: act } }, words),
    );
  }

  async join(conversation) {
    await this.api.post(`/conversations/${conversation.id}/members`);
    this.open(await this.api.get(`/conversations/${conversation.id}`));
  }
}
