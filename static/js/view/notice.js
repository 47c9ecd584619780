// One short line about something that just happened or failed, which goes away by itself.

const SHOWN_MS = 6_000;

export class Notice {
  #box;
  #timer = 0;

  constructor(box) {
    this.#box = box;
  }

  say(words, kind = "") {
    clearTimeout(this.#timer);
    this.#box.textContent = words;
    this.#box.className = `notice ${kind}`.trim();
    this.#box.hidden = false;
    this.#timer = setTimeout(() => {
      this.#box.hidden = true;
    }, SHOWN_MS);
  }

  fail(error) {
    this.say(error.message, "failed");
  }
}
