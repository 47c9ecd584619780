// Messages while they are written: each is a model and how far it goes. Pure: envelopes in, messages out.
//
// An event is applied only where it is the next one. One that is known already changes nothing; where one is missing
// the message waits for a `start`, which brings all there is.

import { AgentUEError, parseEvent, parseModel, reduce } from "../agentue.js";

/** Open messages followed at once in one conversation. */
export const MAX_FOLLOWED = 200;
/** Events kept of a message while it is read. */
export const MAX_WAITING = 5_000;

export class Growing {
  #streams = new Map();
  #waiting = new Map();

  get size() {
    return this.#streams.size;
  }

  clear() {
    this.#streams.clear();
    this.#waiting.clear();
  }

  /**
   * `{ message }` as it is now, `{ fetch: id }` where it is to be read instead, `{ missing: id }` where something
   * was lost, or null where nothing changed. `envelope` as the feed sent it.
   */
  take(envelope) {
    const { stream_id: id, op } = envelope;
    if (op === "start") return this.#start(id, envelope);
    const waiting = this.#waiting.get(id);
    if (waiting) {
      if (waiting.length >= MAX_WAITING) waiting.splice(0);
      waiting.push(envelope);
      return null;
    }
    const known = this.#streams.get(id);
    if (!known) return null;
    const ahead = envelope.seq - known.message.revision;
    if (ahead < 0 || (ahead === 0 && op !== "end")) return null;
    if (ahead > 1) return this.#lost(id);
    if (op === "end") {
      this.#streams.delete(id);
      return { message: { ...known.message, status: envelope.status, revision: envelope.seq } };
    }
    try {
      const model = reduce(known.message.content, parseEvent(envelope));
      known.message = { ...known.message, content: model, error: model.meta.error ?? null, revision: envelope.seq };
      return { message: known.message };
    } catch (error) {
      if (error instanceof AgentUEError) return this.#lost(id);
      throw error;
    }
  }

  /** A message as it was read after `fetch`, or null where it is gone; its events go on from there. As `take`. */
  read(id, message) {
    const waiting = this.#waiting.get(id) ?? [];
    this.#waiting.delete(id);
    if (!message) return null;
    this.#put(message);
    let now = message;
    for (const envelope of waiting) {
      const { message: next, missing } = this.take(envelope) ?? {};
      if (missing) return { message: now, missing };
      now = next ?? now;
    }
    return { message: now };
  }

  #put(message) {
    if (message.status !== "streaming") this.#streams.delete(message.id);
    else if (this.#streams.has(message.id) || this.#streams.size < MAX_FOLLOWED) this.#streams.set(message.id, { message });
  }

  #start(id, { seq, model, message, fetch }) {
    if (fetch) {
      this.#streams.delete(id);
      this.#waiting.set(id, []);
      return { fetch: id };
    }
    this.#waiting.delete(id);
    const begun = { ...message, content: parseModel(model), error: model.meta.error ?? null, revision: seq };
    this.#put(begun);
    return { message: begun };
  }

  #lost(id) {
    this.#streams.delete(id);
    return { missing: id };
  }
}
