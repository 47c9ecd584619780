// Which texts need the server to become HTML, and what it made of them. Pure.

/** Messages whose HTML is kept. */
export const MAX_KEPT = 1_000;
/** Messages asked for at once. */
export const MAX_ASKED = 50;

const TEXT_TYPES = ["text", "markdown"];
const MARKS = /[*_`~<>#|\\[\]&]|^[ \t]*(?:[-+]|\d+[.)])(?:[ \t]|$)|^(?: {4}|\t)|^[ \t]*(?:=+|-{2,})[ \t]*$/m;

/** Whether Markdown would make anything else of this text than what is written. */
export function isMarked(text) {
  return typeof text === "string" && MARKS.test(text);
}

/** Whether a message has text that is to be asked for: a settled one with marks in it. */
export function needsMarkup({ status, content }) {
  if (status === "streaming") return false;
  return (content?.blocks ?? []).some((block) => TEXT_TYPES.includes(block.type) && isMarked(block.content));
}

export class Markup extends EventTarget {
  #kept = new Map();
  #wanted = new Map();
  #asked = new Set();
  #asking = false;
  #ask;

  /** `ask(conversationId, ids)` → the answer's items. Says `change` when more is known. */
  constructor(ask) {
    super();
    this.#ask = ask;
  }

  /** HTML by block id for what a message says now; null where there is none (yet). */
  of(message) {
    const kept = this.#kept.get(message.id);
    if (kept && kept.revision === message.revision) return kept.blocks;
    const known = kept?.failed === message.revision || kept?.revision > message.revision;
    if (!known && !this.#asked.has(message.id) && needsMarkup(message)) this.#want(message);
    return null;
  }

  /** Takes HTML that the server made. */
  keep({ id, revision, blocks }) {
    this.#kept.delete(id);
    this.#kept.set(id, { revision, blocks: new Map(blocks.filter(({ html }) => html !== null).map(({ id: of, html }) => [of, html])) });
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value);
  }

  #want(message) {
    this.#wanted.set(message.id, message);
    if (this.#asking) return;
    this.#asking = true;
    queueMicrotask(() => this.#work());
  }

  async #work() {
    while (this.#wanted.size) {
      const [{ conversation_id: conversationId }] = this.#wanted.values();
      const some = [...this.#wanted.values()].filter((message) => message.conversation_id === conversationId).slice(0, MAX_ASKED);
      this.#asked = new Set(some.map(({ id }) => id));
      for (const id of this.#asked) this.#wanted.delete(id);
      try {
        const items = await this.#ask(conversationId, [...this.#asked]);
        const answered = new Set(items.map(({ id }) => id));
        for (const item of items) this.keep(item);
        for (const { id, revision } of some) if (!answered.has(id)) this.#kept.set(id, { failed: revision });
      } catch {
        // It stays as it was written until it changes or the page is opened again.
        for (const { id, revision } of some) this.#kept.set(id, { failed: revision });
      }
      this.#asked.clear();
      this.dispatchEvent(new Event("change"));
    }
    this.#asking = false;
  }
}
