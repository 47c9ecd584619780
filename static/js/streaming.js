// Answers as they are written: follows the feed of the open conversation while one of its messages is open, and brings
// what it says into the room, at most once per frame.

import { Feed } from "./bus/feed.js";
import { Growing } from "./store/growing.js";

/** How long the feed stays open when nothing is written any more. */
const LINGER_MS = 10_000;
/** How long it goes on for a page that nobody sees. */
const HIDDEN_MS = 60_000;

export class Streaming {
  #room;
  #api;
  #behind;
  #growing = new Growing();
  #feed = null;
  #id = null;
  #changed = new Map();
  #frame = 0;
  #idle = 0;
  #hidden = 0;

  /** `behind()` is called where more has changed than the feed tells. */
  constructor(room, api, behind) {
    this.#room = room;
    this.#api = api;
    this.#behind = behind;
    for (const type of ["opening", "opened", "changed"]) room.addEventListener(type, () => this.#consider());
    document.addEventListener("visibilitychange", () => this.#seen());
    for (const type of ["online", "pageshow"]) window.addEventListener(type, () => this.#feed?.wake());
  }

  stop() {
    this.#close();
    this.#id = null;
  }

  /** Opens or closes the feed, as what is on the screen needs it. */
  #consider() {
    if (this.#id !== this.#room.id) {
      this.#close();
      this.#id = this.#room.id;
    }
    const needed = this.#room.window?.items.some((message) => message.status === "streaming");
    if (needed) {
      clearTimeout(this.#idle);
      this.#idle = 0;
      if (document.visibilityState === "visible") this.#start();
    } else if (this.#feed && !this.#idle) this.#idle = setTimeout(() => this.#close(), LINGER_MS);
  }

  #seen() {
    clearTimeout(this.#hidden);
    if (document.visibilityState === "visible") {
      this.#consider();
      this.#flush();
    } else this.#hidden = setTimeout(() => this.#feed?.stop(), HIDDEN_MS);
  }

  #start() {
    if (!this.#feed) {
      const feed = new Feed(`/v1/conversations/${this.#id}/stream`);
      feed.addEventListener("event", ({ detail }) => feed === this.#feed && this.#take(detail));
      this.#feed = feed;
    }
    this.#feed.start();
  }

  #close() {
    clearTimeout(this.#idle);
    clearTimeout(this.#hidden);
    cancelAnimationFrame(this.#frame);
    this.#idle = this.#hidden = this.#frame = 0;
    this.#feed?.stop();
    this.#feed = null;
    this.#growing.clear();
    this.#changed.clear();
  }

  #take({ type, data }) {
    if (type === "resync") return this.#behind();
    if (type !== "message") return undefined;
    const envelope = JSON.parse(data);
    const result = this.#growing.take(envelope);
    if (result?.fetch) return this.#read(result.fetch);
    return this.#bring(result);
  }

  #bring(result) {
    if (result?.message?.conversation_id === this.#id) {
      this.#changed.set(result.message.id, result.message);
      if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#flush());
    }
    if (result?.missing) this.#feed.restart();
  }

  async #read(id) {
    const feed = this.#feed;
    let message = null;
    try {
      message = await this.#api.get(`/messages/${id}`);
    } catch (error) {
      if (feed === this.#feed && error.status !== 404) feed.restart();
    }
    if (feed === this.#feed) this.#bring(this.#growing.read(id, message));
  }

  #flush() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const messages = [...this.#changed.values()];
    this.#changed.clear();
    for (const message of messages) this.#room.grow(message);
  }
}
