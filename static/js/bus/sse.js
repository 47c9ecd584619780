// Server-sent events out of the text of a response, whatever pieces it comes in. Pure.

/** A line longer than this (characters) is no event of ours: the reader gives up and begins anew. */
export const MAX_LINE = 4 * 1024 * 1024;

export class SseParser {
  #rest = "";
  #data = [];
  #type = "";

  constructor() {
    /** The last id that a complete event, or a block with an id alone, brought. */
    this.lastId = "";
    /** Milliseconds that the server asks to wait before coming back; null where it said nothing. */
    this.retryMs = null;
    this.#id = null;
  }

  #id;

  /** The events that this text completes: `{ type, data }`, each with the `lastId` that holds after it. */
  push(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    if (this.#rest.length > MAX_LINE) throw new RangeError("a line of the stream is too long");
    const events = [];
    for (const line of lines) this.#take(line.endsWith("\r") ? line.slice(0, -1) : line, events);
    return events;
  }

  #take(line, events) {
    if (line === "") return this.#finish(events);
    if (line.startsWith(":")) return undefined;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#type = value;
    else if (field === "id") this.#id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
    return undefined;
  }

  #finish(events) {
    if (this.#id !== null) this.lastId = this.#id;
    if (this.#data.length) events.push({ type: this.#type || "message", data: this.#data.join("\n"), id: this.lastId });
    this.#data = [];
    this.#type = "";
    this.#id = null;
  }
}
