// The loaded part of one conversation: messages in id order, without holes, and whether more exist on either side.
// Ids are UUIDv7 strings, so their order as text is their order in time.

export const MAX_LOADED = 600;
/** How many of the oldest are let go of at once when new ones go over the bound. */
export const LET_GO = 100;

export class MessageWindow {
  #items = [];
  #byId = new Map();

  constructor(conversationId) {
    this.conversationId = conversationId;
    this.hasBefore = false;
    this.hasAfter = false;
    /** Messages that arrived beyond the loaded part while newer ones are not loaded. */
    this.beyond = 0;
  }

  get items() {
    return this.#items;
  }

  get first() {
    return this.#items[0] ?? null;
  }

  get last() {
    return this.#items.at(-1) ?? null;
  }

  get(id) {
    return this.#byId.get(id) ?? null;
  }

  /** Takes a page as the whole window: what is missing there is gone. */
  replace(page) {
    const known = this.#byId;
    this.#set(page.items.map((message) => newest(known.get(message.id), message)));
    this.hasBefore = Boolean(page.has_more_before);
    this.hasAfter = Boolean(page.has_more_after);
    this.beyond = 0;
  }

  /**
   * Replaces the window by a newer reading of it: `page` ends at the end of the conversation. Where the page reaches
   * back past the window's start, what lies before that start is cut off, so that the view keeps its size.
   */
  refresh(page) {
    const start = this.first?.id;
    const from = start ? page.items.findIndex((message) => message.id >= start) : 0;
    if (from > 0) this.replace({ ...page, items: page.items.slice(from), has_more_before: true });
    else this.replace(page);
  }

  prepend(page) {
    const fresh = page.items.filter((message) => !this.#byId.has(message.id));
    this.#set([...fresh, ...this.#items]);
    this.hasBefore = Boolean(page.has_more_before);
    if (this.#items.length > MAX_LOADED) {
      this.#set(this.#items.slice(0, MAX_LOADED));
      this.hasAfter = true;
    }
  }

  append(page) {
    const fresh = page.items.filter((message) => !this.#byId.has(message.id));
    this.#set([...this.#items, ...fresh]);
    this.hasAfter = Boolean(page.has_more_after);
    if (!this.hasAfter) this.beyond = 0;
    if (this.#items.length > MAX_LOADED) {
      this.#set(this.#items.slice(-MAX_LOADED));
      this.hasBefore = true;
    }
  }

  /** A message as it is now: "added", "updated", "stale" (nothing new in it) or "outside" (not in the loaded part). */
  put(message) {
    const known = this.#byId.get(message.id);
    if (known) {
      if (newest(known, message) === known) return "stale";
      this.#items[this.#items.indexOf(known)] = message;
      this.#byId.set(message.id, message);
      return "updated";
    }
    if (this.last && message.id < this.last.id) {
      if (this.hasBefore && message.id < this.first.id) return "outside";
      const at = this.#items.findIndex((other) => other.id > message.id);
      this.#set([...this.#items.slice(0, at), message, ...this.#items.slice(at)]);
      return "added";
    }
    if (this.hasAfter) {
      this.beyond += 1;
      return "outside";
    }
    this.#set([...this.#items, message]);
    if (this.#items.length > MAX_LOADED) {
      this.#set(this.#items.slice(LET_GO));
      this.hasBefore = true;
    }
    return "added";
  }

  /** Applies a change to a loaded message without a revision of its own (reactions, thread summary). */
  patch(id, fields) {
    const known = this.#byId.get(id);
    if (!known) return false;
    const message = { ...known, ...fields };
    this.#items[this.#items.indexOf(known)] = message;
    this.#byId.set(id, message);
    return true;
  }

  remove(id) {
    if (!this.#byId.has(id)) return false;
    this.#set(this.#items.filter((message) => message.id !== id));
    return true;
  }

  #set(items) {
    this.#items = items;
    this.#byId = new Map(items.map((message) => [message.id, message]));
  }
}

/** The newer of two readings; the known one where they say the same, so that its node stays as it is. */
function newest(known, message) {
  if (!known || known.revision < message.revision) return message;
  return known.revision > message.revision || JSON.stringify(known) === JSON.stringify(message) ? known : message;
}
