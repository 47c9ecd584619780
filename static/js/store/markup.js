// Which texts need the server to become HTML, and what it made of them. Pure.

/** Messages whose HTML is kept. */
export const MAX_KEPT = 1_000;
/** Messages asked for at once, and blocks of one that is still written. */
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

/** The blocks of a message that is still written which are to be asked for: a later block has begun, so they are whole. */
export function settledBlocks({ content }) {
  return (content?.blocks ?? []).slice(0, -1).filter((block) => TEXT_TYPES.includes(block.type) && isMarked(block.content));
}

export class Markup extends EventTarget {
  #kept = new Map();
  #growing = new Map();
  #wanted = new Map();
  #asked = new Set();
  #asking = false;
  #ask;

  /** `ask(conversationId, ids, blockIds)` → the answer's items; all blocks where none is named. Says `change` when more is known. */
  constructor(ask) {
    super();
    this.#ask = ask;
  }

  /** HTML by block id for what a message says now; null where there is none (yet). */
  of(message) {
    const kept = this.#kept.get(message.id);
    if (kept && kept.revision === message.revision) {
      this.#growing.delete(message.id);
      return kept.blocks;
    }
    const known = kept?.failed === message.revision || kept?.revision > message.revision;
    if (!known && !this.#asked.has(message.id) && needsMarkup(message)) this.#want(message);
    return null;
  }

  /**
   * The same of the settled blocks of a message that is still written, and of one that has just ended until `of` knows
   * it. The same map for as long as nothing changes.
   */
  settled(message) {
    const growing = message.status === "streaming";
    const blocks = growing || this.#growing.has(message.id) ? settledBlocks(message) : [];
    if (!blocks.length) return null;
    const held = this.#growing.get(message.id) ?? { made: new Map(), shown: new Map() };
    this.#growing.set(message.id, held);
    if (this.#growing.size > MAX_KEPT) this.#growing.delete(this.#growing.keys().next().value);
    const shown = new Map();
    for (const block of blocks) {
      const made = madeOf(held, block);
      if (made?.html && made.revision <= message.revision) shown.set(block.id, made.html);
    }
    if (growing && blocks.some((block) => !madeOf(held, block)) && !this.#asked.has(message.id)) this.#want(message);
    if (shown.size !== held.shown.size || [...shown].some(([id, html]) => held.shown.get(id) !== html)) held.shown = shown;
    return held.shown;
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
      const [{ conversation_id: conversationId, status }] = this.#wanted.values();
      if (status === "streaming") {
        await this.#workOnGrowing();
        continue;
      }
      const settled = [...this.#wanted.values()].filter((message) => message.status !== "streaming");
      const some = settled.filter((message) => message.conversation_id === conversationId).slice(0, MAX_ASKED);
      this.#asked = new Set(some.map(({ id }) => id));
      for (const id of this.#asked) this.#wanted.delete(id);
      try {
        const items = await this.#ask(conversationId, [...this.#asked], []);
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

  /** What a block becomes is known for that state of it alone; what cannot be had stays as it was written. */
  async #workOnGrowing() {
    const [message] = this.#wanted.values();
    this.#wanted.delete(message.id);
    this.#asked = new Set([message.id]);
    const held = this.#growing.get(message.id);
    const blocks = held ? settledBlocks(message).filter((block) => !madeOf(held, block)).slice(0, MAX_ASKED) : [];
    if (blocks.length) {
      const ids = blocks.map(({ id }) => id);
      const [item] = await this.#ask(message.conversation_id, [message.id], ids).catch(() => []);
      const html = new Map(item?.blocks.map((block) => [block.id, block.html]));
      for (const block of blocks) held.made.set(block.id, { block, html: html.get(block.id) ?? null, revision: item?.revision ?? 0 });
    }
    this.#asked.clear();
    this.dispatchEvent(new Event("change"));
  }
}

function madeOf({ made }, block) {
  const known = made.get(block.id);
  return known?.block === block ? known : null;
}
