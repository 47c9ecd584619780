// Says new messages to screen readers, each once and whole; of one that is
// still written only that it is. The log itself is silent: drawing a page of history or a
// growing answer in it would be read aloud from its beginning.

import { plainText } from "./blocks.js";

const SPOKEN_CHARS = 300;

export class Announcer {
  #box;
  #nameOf;

  /** `nameOf(message)` is who speaks. */
  constructor(box, nameOf) {
    this.#box = box;
    this.#nameOf = nameOf;
  }

  say(messages) {
    const last = messages.at(-1);
    const more = messages.length > 1 ? `${messages.length} new messages. ` : "";
    if (last.status === "streaming") {
      this.#box.textContent = `${more}${this.#nameOf(last)} is writing`;
      return;
    }
    const text = plainText(last.content).slice(0, SPOKEN_CHARS) || "an attachment";
    this.#box.textContent = `${more}${this.#nameOf(last)}: ${text}`;
  }
}
