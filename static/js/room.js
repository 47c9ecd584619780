// The open conversation: its loaded messages, its "new messages" line, and how it loads more of itself.

import { ApiError } from "./api.js";
import { MessageWindow } from "./store/window.js";

const PAGE = 50;
const CATCH_UP = 200;
const MAX_PAGES_TO_LINE = 10;
const MAX_MEANWHILE = 1_000;

export class Room extends EventTarget {
  #api;
  #workspace;
  #busy = null;
  #turn = 0;
  #reads = 0;
  #meanwhile = [];

  constructor(api, workspace) {
    super();
    this.#api = api;
    this.#workspace = workspace;
    this.id = null;
    this.window = null;
    this.error = null;
    /** The line stands before the first message of somebody else beyond this seq; null: no line. */
    this.newAfterSeq = null;
  }

  get conversation() {
    return this.id ? this.#workspace.conversation(this.id) : null;
  }

  /** Opens a conversation with a page that is at hand, or loads its newest one (or the one around `at`). */
  async open(id, { page = null, at = null } = {}) {
    this.#turn += 1;
    const turn = this.#turn;
    this.id = id;
    this.window = null;
    this.error = null;
    this.newAfterSeq = null;
    this.#tell("opening");
    try {
      await Promise.all([
        this.#take(page ?? this.#messages(id, at ? { around: at, limit: PAGE } : { limit: PAGE }), (loaded) => {
          if (turn !== this.#turn) return;
          this.window = new MessageWindow(id);
          this.window.replace(loaded);
        }),
        this.#workspace.conversation(id) ?? this.#api.get(`/conversations/${id}`).then((known) => this.#workspace.put(known)),
      ]);
      if (turn === this.#turn) this.#freezeLine();
    } catch (error) {
      if (turn !== this.#turn) return;
      this.window = null;
      this.error = error;
    }
    if (turn === this.#turn) this.#tell("opened");
  }

  /** Access to the open conversation is gone. */
  lose() {
    this.#turn += 1;
    this.window = null;
    this.error = new ApiError(404, "not_found", "This conversation does not exist.");
    this.#tell("opened");
    this.#tell("changed");
  }

  close() {
    this.#turn += 1;
    this.id = null;
    this.window = null;
    this.newAfterSeq = null;
    this.error = null;
    this.#tell("opening");
  }

  older() {
    return this.#page(() => this.window.hasBefore, () => ({ before: this.window.first.id }), (page) => this.window.prepend(page));
  }

  newer() {
    return this.#page(() => this.window.hasAfter, () => ({ after: this.window.last.id }), (page) => this.window.append(page));
  }

  async latest() {
    const window = this.window;
    await this.#take(this.#messages(window.conversationId, { limit: PAGE }), (page) => window.replace(page));
    if (window === this.window) this.#tell("changed");
  }

  /** Makes a message part of the loaded window; false where it no longer exists. */
  async reach(messageId) {
    const window = this.window;
    if (window.get(messageId)) return true;
    try {
      await this.#take(this.#messages(window.conversationId, { around: messageId, limit: PAGE }), (page) => window.replace(page));
      if (window !== this.window) return false;
    } catch (error) {
      if (error.status === 404) return false;
      throw error;
    }
    this.#tell("changed");
    return window.get(messageId) !== null;
  }

  /** Loads back to the "new messages" line, within bounds. */
  async reachLine() {
    for (let page = 0; page < MAX_PAGES_TO_LINE && this.lineIsAbove; page += 1) {
      const first = this.window.first.id;
      await this.older();
      if (this.window.first.id === first) return;
    }
  }

  /** The line belongs before the loaded part. */
  get lineIsAbove() {
    const first = this.window?.first;
    return Boolean(first && this.window.hasBefore && this.newAfterSeq !== null && first.seq > this.newAfterSeq + 1);
  }

  /** Reads the loaded window anew after frames may have been missed. `around`: what the reader looks at, if not the end. */
  async catchUp(around) {
    const window = this.window;
    if (!window) {
      if (this.error) this.#tell("reopen");
      return;
    }
    const query = around && (window.hasAfter || window.items.length > CATCH_UP) ? { around } : {};
    const newest = window.last?.id ?? "";
    const wasAtEnd = !window.hasAfter;
    const take = (read, page) => (read.around ? window.replace(page) : window.refresh(page));
    const ask = (read) => this.#take(this.#messages(window.conversationId, { ...read, limit: CATCH_UP }), (page) => take(read, page));
    try {
      await ask(query);
    } catch (error) {
      if (error.status !== 404 || !query.around) throw error;
      await ask({});
    }
    if (window !== this.window) return;
    const arrived = window.items.filter((message) => message.id > newest);
    if (wasAtEnd && arrived.length) this.#announce(arrived);
    this.#tell("changed");
  }

  /** A message as a frame or an answer brought it. */
  put(message) {
    this.#apply(() => {
      if (message.conversation_id !== this.id || !this.window) return;
      const before = this.window.get(message.id)?.status;
      const how = this.window.put(message);
      if (how === "added" && message.id === this.window.last.id) this.#announce([message]);
      if (before === "streaming" && how === "updated" && message.status !== before) {
        this.dispatchEvent(new CustomEvent("finished", { detail: message }));
      }
      if (how !== "stale") this.#tell("changed");
    });
  }

  /** What a message says by now, as its feed tells it; one that lies beyond the loaded part is left to the socket. */
  grow(message) {
    const { window } = this;
    const known = window?.get(message.id);
    if (!window || (!known && window.hasAfter)) return;
    const { content, error, status, revision } = message;
    this.put(known ? { ...known, content, error, status, revision } : message);
  }

  patch(messageId, fields) {
    this.#apply(() => this.window?.patch(messageId, fields) && this.#tell("changed"));
  }

  remove(messageId) {
    this.#apply(() => this.window?.remove(messageId) && this.#tell("changed"));
  }

  drawLine(afterSeq) {
    this.newAfterSeq = afterSeq;
    this.#tell("changed");
  }

  clearLine() {
    if (this.newAfterSeq !== null) this.drawLine(null);
  }

  #freezeLine() {
    const { conversation, window } = this;
    if (!conversation?.joined || conversation.last_read_seq === null || conversation.last_read_seq === undefined) return;
    const floor = Math.max(conversation.last_read_seq, (conversation.effective_from_seq ?? 1) - 1);
    const me = this.#workspace.me.id;
    if (window.items.some((message) => message.seq > floor && message.author_id !== me)) this.newAfterSeq = floor;
  }

  #announce(messages) {
    this.dispatchEvent(new CustomEvent("arrived", { detail: messages }));
  }

  /** One page at a time: who asks meanwhile waits for that one. */
  async #page(wanted, query, take) {
    const window = this.window;
    if (!window || !window.items.length || !wanted()) return;
    if (this.#busy?.window === window) return this.#busy.done;
    const done = this.#load(window, query, take);
    this.#busy = { window, done };
    await done;
  }

  async #load(window, query, take) {
    try {
      await this.#take(this.#messages(window.conversationId, { ...query(), limit: PAGE }), (page) => window === this.window && take(page));
    } catch (error) {
      if (window === this.window) this.dispatchEvent(new CustomEvent("trouble", { detail: error }));
      return;
    } finally {
      if (this.#busy?.window === window) this.#busy = null;
    }
    if (window === this.window) this.#tell("changed");
  }

  /** Applies a change now, and again after the pages that are under way: they may have been read before it. */
  #apply(change) {
    if (this.#reads && this.#meanwhile.length < MAX_MEANWHILE) this.#meanwhile.push(change);
    change();
  }

  async #take(reading, take) {
    this.#reads += 1;
    try {
      take(await reading);
      for (const change of this.#meanwhile) change();
    } finally {
      this.#reads -= 1;
      if (!this.#reads) this.#meanwhile = [];
    }
  }

  #messages(id, query) {
    return this.#api.get(`/conversations/${id}/messages`, query);
  }

  #tell(type) {
    this.dispatchEvent(new Event(type));
  }
}
