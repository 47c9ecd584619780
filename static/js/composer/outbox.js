// Messages on their way: shown at once, sent one after the other for each conversation, so that their order holds.
//
// An entry is queued → sending → (gone once the stored message is known) or failed. When one fails, those behind it
// wait. Each carries a `client_message_id`: sending it again after a lost answer finds the stored message.

export const MAX_PENDING = 50;

export class Outbox extends EventTarget {
  #post;
  #keep;
  #entries = [];
  #busy = new Set();

  /**
   * `post(entry)` sends one and resolves to the stored message. `keep` remembers entries over a reload of the page:
   * `load()` and `save(entries)`; what was under way then comes back as failed, for its author to decide.
   */
  constructor(post, keep = { load: () => [], save: () => {} }) {
    super();
    this.#post = post;
    this.#keep = keep;
    this.#entries = keep.load().map((entry) => ({ ...entry, state: "failed", error: "Not sent before this page was left." }));
  }

  pending(conversationId) {
    return this.#entries.filter((entry) => entry.conversationId === conversationId);
  }

  /** Something is being sent right now. */
  get sending() {
    return this.#busy.size > 0;
  }

  /** Queues a message; false where too many wait already. */
  add(entry) {
    if (this.#entries.length >= MAX_PENDING) return false;
    this.#entries.push({ ...entry, state: "queued", error: "" });
    this.#changed(entry.conversationId);
    this.#pump(entry.conversationId);
    return true;
  }

  retry(clientId) {
    const entry = this.#find(clientId);
    if (entry?.state !== "failed") return;
    this.#update(entry, { state: "queued", error: "" });
    this.#pump(entry.conversationId);
  }

  discard(clientId) {
    const entry = this.#find(clientId);
    if (!entry || entry.state === "sending") return null;
    this.#remove(entry);
    this.#pump(entry.conversationId);
    return entry;
  }

  /** The stored message arrived by another way (its frame can beat the answer). */
  settle(clientId) {
    const entry = clientId ? this.#find(clientId) : null;
    if (entry) this.#remove(entry);
    if (entry) this.#pump(entry.conversationId);
  }

  async #pump(conversationId) {
    if (this.#busy.has(conversationId)) return;
    const entry = this.pending(conversationId)[0];
    if (!entry || entry.state !== "queued") return;
    this.#busy.add(conversationId);
    this.#update(entry, { state: "sending" });
    try {
      const message = await this.#post(entry);
      this.#busy.delete(conversationId);
      this.dispatchEvent(new CustomEvent("stored", { detail: message }));
      this.settle(entry.clientId);
    } catch (error) {
      this.#busy.delete(conversationId);
      const current = this.#find(entry.clientId);
      if (current) this.#update(current, { state: "failed", error: error.message });
    }
    this.#pump(conversationId);
  }

  #find(clientId) {
    return this.#entries.find((entry) => entry.clientId === clientId) ?? null;
  }

  #update(entry, fields) {
    const at = this.#entries.findIndex((other) => other.clientId === entry.clientId);
    if (at === -1) return;
    this.#entries[at] = { ...this.#entries[at], ...fields };
    this.#changed(entry.conversationId);
  }

  #remove(entry) {
    this.#entries = this.#entries.filter((other) => other.clientId !== entry.clientId);
    this.#changed(entry.conversationId);
  }

  #changed(conversationId) {
    this.#keep.save(this.#entries);
    this.dispatchEvent(new CustomEvent("change", { detail: conversationId }));
  }
}
