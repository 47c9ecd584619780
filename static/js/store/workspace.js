// What the page knows of its workspace: conversations and unread. Changes are announced by events: `conversations`,
// `unread`, `workspaces`; views redraw from here and keep nothing of their own.

import { advanced, nothing, number, replaced, showsSomething, totals } from "./unread.js";

const PAGE = 200;

export class Workspace extends EventTarget {
  #conversations = new Map();
  #awaitingSnapshot = false;

  constructor({ workspace, me, workspaces, conversations, next, unread }) {
    super();
    this.id = workspace.id;
    this.slug = workspace.slug;
    this.name = workspace.name;
    this.me = me;
    this.workspaces = workspaces;
    /** Where the list of joined conversations goes on, or null if all of them are known. */
    this.next = next ?? null;
    /** The conversation that is being read right now, or null. */
    this.reading = null;
    this.unread = unread ? replaced(unread) : nothing();
    for (const conversation of conversations) this.#conversations.set(conversation.id, conversation);
  }

  conversation(id) {
    return this.#conversations.get(id) ?? null;
  }

  joined() {
    return [...this.#conversations.values()].filter((conversation) => conversation.joined && !conversation.archived);
  }

  put(conversation) {
    this.#conversations.set(conversation.id, { ...this.#conversations.get(conversation.id), ...conversation });
    this.#tell("conversations");
  }

  /** A fresh bootstrap replaces the joined ones; those of `open` stay although they are not among them. */
  replaceConversations(conversations, ...open) {
    const kept = open.map((id) => this.#conversations.get(id)).filter(Boolean);
    this.#conversations = new Map(conversations.map((conversation) => [conversation.id, conversation]));
    for (const conversation of kept) if (!this.#conversations.has(conversation.id)) this.#conversations.set(conversation.id, conversation);
    this.#tell("conversations");
  }

  /** Reads one more page of joined conversations. */
  async loadMore(api) {
    const query = { workspace_id: this.id, joined: "true", limit: PAGE, cursor: this.next };
    const answer = await api.get("/conversations", query);
    for (const conversation of answer.items) this.#conversations.set(conversation.id, conversation);
    this.next = answer.next;
    this.#tell("conversations");
  }

  forget(id) {
    if (this.#conversations.delete(id)) this.#tell("conversations");
  }

  /** Newest activity known of a conversation, for the order of lists. */
  touch(id, time) {
    const conversation = this.#conversations.get(id);
    if (conversation && (conversation.visible_last_message_at ?? "") < time) this.put({ id, visible_last_message_at: time });
  }

  setWorkspaces(workspaces) {
    this.workspaces = workspaces;
    this.#tell("workspaces");
  }

  // --- unread: frames in, what badges say out

  takeSnapshot(frame) {
    this.#awaitingSnapshot = false;
    this.unread = replaced(frame);
    this.#tell("unread");
  }

  /** True if the snapshot must be asked for. */
  takeDelta(frame) {
    const { state, resync } = advanced(this.unread, frame);
    if (state !== this.unread) {
      this.unread = state;
      this.#tell("unread");
    }
    if (!resync || this.#awaitingSnapshot) return false;
    this.#awaitingSnapshot = true;
    return true;
  }

  /** After a reconnect the server sends a snapshot by itself; what was asked before is void. */
  snapshotIsComing() {
    this.#awaitingSnapshot = true;
  }

  entry(id) {
    const entry = this.unread.counts.get(id) ?? null;
    return id === this.reading && !entry?.manual ? null : entry;
  }

  lights(id) {
    return showsSomething(this.entry(id));
  }

  count(id) {
    return number(this.entry(id));
  }

  totals() {
    return totals(this.unread, this.reading);
  }

  setReading(id) {
    if (this.reading === id) return;
    this.reading = id;
    this.#tell("unread");
  }

  #tell(type) {
    this.dispatchEvent(new Event(type));
  }
}
