// The list of conversations with its badges, and the rail of workspaces with its dots.

import { badgeLabel } from "../store/unread.js";
import { conversationIcon, conversationName, dmOthers, sections } from "../store/names.js";
import { avatar } from "./avatar.js";
import { arrange, fill, h, icon, iconButton } from "./dom.js";

export class Sidebar {
  #workspace;
  #directory;
  #container;
  #openId = () => null;
  #actions;
  #links = new Map();
  #heads = new Map();
  #more;
  #frame = 0;

  /** `actions`: { openId(), offered(type), create(type), browse(), more() }. */
  constructor(container, workspace, directory, actions) {
    this.#container = container;
    this.#workspace = workspace;
    this.#directory = directory;
    this.#openId = actions.openId;
    this.#actions = actions;
    this.#more = h("button", { type: "button", class: "quiet more", on: { click: () => actions.more() } }, "Show older conversations");
    for (const type of ["conversations", "unread"]) workspace.addEventListener(type, () => this.#soon());
    directory.addEventListener("change", () => this.#soon());
  }

  /** Once before the next frame, however much happens until then. */
  #soon() {
    this.#frame ||= requestAnimationFrame(() => this.draw());
  }

  /** The conversations in the order in which they stand. */
  order() {
    return this.#sections().flatMap((section) => section.list);
  }

  draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const nodes = [];
    const alive = new Set();
    for (const section of this.#sections()) {
      if (!section.list.length && !this.#actions.offered(section.type)) continue;
      const { block, list, empty } = this.#section(section);
      empty.hidden = section.list.length > 0;
      list.hidden = section.list.length === 0;
      arrange(list, section.list.map((conversation) => {
        alive.add(conversation.id);
        return this.#item(conversation);
      }));
      nodes.push(block);
    }
    for (const id of this.#links.keys()) if (!alive.has(id)) this.#links.delete(id);
    if (this.#workspace.next) nodes.push(this.#more);
    arrange(this.#container, nodes);
  }

  #sections() {
    return sections(this.#workspace.joined(), this.#directory, {
      lights: (id) => this.#workspace.lights(id),
      openId: this.#openId(),
    });
  }

  #section({ type, title }) {
    const known = this.#heads.get(type);
    if (known) return known;
    const list = h("ul", { class: "list" });
    const { create, browse } = this.#actions;
    const buttons = [];
    if (type === "channel") buttons.push(iconButton("compass", "Browse channels", browse));
    if (type === "channel") buttons.push(iconButton("plus", "Create a channel", () => create("channel")));
    if (type === "conversation") buttons.push(iconButton("plus", "Start a conversation", () => create("conversation")));
    if (type === "dm") buttons.push(iconButton("plus", "New direct message", () => create("dm")));
    const hint = { channel: "Browse the channels, or create one.", conversation: "Talk with agents, and with others.", dm: "Write to somebody directly." }[type] ?? "";
    const empty = h("p", { class: "hint" }, hint);
    const id = `section-${type}`;
    const block = h(
      "section",
      { class: "section", "aria-labelledby": id },
      h("header", {}, h("h2", { id }, title), h("span", { class: "tools" }, buttons)),
      list,
      empty,
    );
    this.#heads.set(type, { block, list, empty });
    return this.#heads.get(type);
  }

  #item(conversation) {
    const entry = this.#workspace.entry(conversation.id);
    const lit = this.#workspace.lights(conversation.id);
    const label = lit ? badgeLabel(entry) : null;
    const name = conversationName(conversation, this.#directory);
    const open = conversation.id === this.#openId();
    const muted = conversation.level === "none";
    const stamp = JSON.stringify([name, label, open, muted, conversation.visibility, entry?.mentions, entry?.state, conversation.type]);
    const known = this.#links.get(conversation.id);
    if (known?.stamp === stamp) return known.node;
    const node = known?.node ?? h("li", {}, h("a", {}));
    const link = node.firstChild;
    link.href = `/w/${this.#workspace.slug}/c/${conversation.id}/`;
    link.dataset.conversation = conversation.id;
    link.className = ["item", lit && "lit", muted && "muted", entry?.mentions > 0 && "mentioned", conversation.type === "dm" && "direct"].filter(Boolean).join(" ");
    if (open) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    fill(
      link,
      this.#mark(conversation),
      h("span", { class: "name", dir: "auto" }, name),
      muted && h("span", { class: "note", title: "Muted" }, icon("bell-off"), h("span", { class: "sr" }, "muted")),
      label && badge(label, entry),
    );
    this.#links.set(conversation.id, { node, stamp });
    return node;
  }

  #mark(conversation) {
    const others = conversation.type === "dm" ? dmOthers(conversation, this.#directory) : [];
    if (conversation.type === "dm" && others.length <= 1) return avatar(others[0] ?? this.#directory.me, "small");
    if (others.length > 1) return h("span", { class: "avatar small several", "aria-hidden": "true" }, String(others.length));
    return icon(conversationIcon(conversation));
  }
}

function badge(label, entry) {
  const kind = label.text ? "badge" : "badge dot";
  const about = entry.state === "snapshot_serving" ? " about" : "";
  return h("span", { class: kind + about, title: label.spoken }, label.text && h("span", { "aria-hidden": "true" }, label.text), h("span", { class: "sr" }, `, ${label.spoken}`));
}

/** The red dots of the workspaces: this one's from its frames, the others' as the server last said. */
export function drawDots(rail, workspace) {
  for (const link of rail.querySelectorAll("[data-workspace]")) {
    const id = link.dataset.workspace;
    const other = workspace.workspaces.find((candidate) => candidate.id === id);
    const lit = id === workspace.id ? workspace.totals().hasUnread : Boolean(other?.has_unread);
    link.classList.toggle("lit", lit);
    link.querySelector(".sr").textContent = lit ? ", has unread messages" : "";
  }
}
