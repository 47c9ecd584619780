// The server-sent events of one conversation. It reads them with fetch, since the browser's own reader forgets where
// it was when it is opened anew: this one comes back after the last event it was given, with the socket's backoff.

import { attemptAfter, retryDelayMs } from "./backoff.js";
import { SseParser } from "./sse.js";

/** Longer than two of the server's pings: nothing came, so nothing will. */
const SILENCE_MS = 40_000;
/** Refusals that asking again does not change. */
const FINAL = [400, 401, 403, 404];

export class Feed extends EventTarget {
  #open;
  #random;
  #abort = null;
  #retry = 0;
  #silence = 0;
  #attempt = 0;
  #refused = false;

  /** Says `event` ({ type, data }) for each event. `open(url, options)` is fetch. */
  constructor(url, { open = (address, options) => fetch(address, options), random = Math.random } = {}) {
    super();
    this.url = url;
    this.lastId = "";
    this.#open = open;
    this.#random = random;
  }

  get running() {
    return this.#abort !== null || this.#retry !== 0;
  }

  start() {
    if (!this.running && !this.#refused) this.#read();
  }

  /** Where it left off is kept: a later `start` goes on from there. */
  stop() {
    clearTimeout(this.#retry);
    clearTimeout(this.#silence);
    this.#retry = 0;
    this.#abort?.abort();
    this.#abort = null;
  }

  /** Connects anew, so that every open message begins with its state. */
  restart() {
    this.stop();
    this.#later();
  }

  /** Now, instead of later. */
  wake() {
    if (!this.#retry) return;
    this.stop();
    this.#read();
  }

  async #read() {
    const abort = new AbortController();
    this.#abort = abort;
    this.#retry = 0;
    let since = 0;
    try {
      this.#expect(abort);
      const headers = { Accept: "text/event-stream", ...(this.lastId && { "Last-Event-ID": this.lastId }) };
      const response = await this.#open(this.url, { headers, credentials: "same-origin", cache: "no-store", signal: abort.signal });
      if (!response.ok) {
        if (FINAL.includes(response.status)) return this.#give(abort);
        throw new Error(`the stream was refused: ${response.status}`);
      }
      since = Date.now();
      await this.#events(response.body, abort);
    } catch {
      // Whatever it was: below it is tried again.
    }
    if (this.#abort !== abort) return undefined;
    this.stop();
    this.#attempt = attemptAfter(this.#attempt, since ? Date.now() - since : 0);
    return this.#later();
  }

  async #events(body, abort) {
    const parser = new SseParser();
    const decoder = new TextDecoder();
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#abort !== abort) return;
      this.#expect(abort);
      for (const event of parser.push(decoder.decode(value, { stream: true }))) {
        this.dispatchEvent(new CustomEvent("event", { detail: event }));
        if (this.#abort !== abort) return;
        if (event.id) this.lastId = event.id;
      }
      if (parser.lastId) this.lastId = parser.lastId;
    }
  }

  #give(abort) {
    if (this.#abort !== abort) return;
    this.#refused = true;
    this.stop();
  }

  #later() {
    const delay = retryDelayMs(this.#attempt, this.#random);
    this.#attempt += 1;
    this.#retry = setTimeout(() => this.#read(), delay);
  }

  #expect(abort) {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => abort.abort(), SILENCE_MS);
  }
}
