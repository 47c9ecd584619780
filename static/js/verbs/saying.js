// Says what happened or failed in the page's notice; used by everything that people do.

export class Saying {
  #notice;

  constructor(notice) {
    this.#notice = notice;
  }

  say(words) {
    this.#notice.say(words);
  }

  /** The result of the work; where it fails, says why and gives undefined. */
  async attempt(work) {
    try {
      return await work;
    } catch (error) {
      this.#notice.fail(error);
      return undefined;
    }
  }

  async copy(text, words) {
    try {
      await navigator.clipboard.writeText(text);
      this.#notice.say(words);
    } catch {
      this.#notice.say("The browser did not allow copying.", "failed");
    }
  }
}
