// Whom a message is directed at, in conversations of people and agents: everybody there, or one agent. The last choice
// is kept for each conversation.

import { keepTarget, readTarget } from "../store/kept.js";
import { actorText } from "../store/names.js";
import { h, icon } from "../view/dom.js";
import { popover } from "../view/popover.js";
import { ActorPicker } from "./actors.js";

export class Addressee {
  #box;
  #agents;
  #failed;
  #conversationId = null;
  #chosen = null;

  /** `agents(conversationId)` → a search for them, `query → [{ kind, key, name, online }]`; `failed(error)` says why not. */
  constructor(box, agents, failed) {
    this.#box = box;
    this.#agents = agents;
    this.#failed = failed;
  }

  /** Offers the choice in this conversation, or (null) none. */
  open(conversationId) {
    this.#conversationId = conversationId;
    this.#chosen = conversationId ? readTarget(conversationId) : null;
    this.#box.hidden = !conversationId;
    this.#draw();
  }

  /** `{ kind, key }`, or null for everybody. */
  get target() {
    return this.#chosen && { kind: this.#chosen.kind, key: this.#chosen.key };
  }

  #draw() {
    if (!this.#conversationId) return this.#box.replaceChildren();
    const words = this.#chosen ? this.#chosen.name || actorText(this.#chosen) : "everybody here";
    const button = h(
      "button",
      { type: "button", class: "quiet", "aria-haspopup": "dialog", "aria-expanded": "false", title: this.#chosen ? actorText(this.#chosen) : null, on: { click: () => this.#choose(button) } },
      h("span", {}, "To "),
      h("b", { dir: "auto" }, words),
      icon("arrow-down"),
    );
    return this.#box.replaceChildren(button);
  }

  async #choose(button) {
    const conversationId = this.#conversationId;
    if (button.disabled) return;
    button.disabled = true;
    const picker = new ActorPicker(this.#agents(conversationId), (actor) => {
      close();
      this.#take(conversationId, actor);
    });
    try {
      await picker.load("");
    } catch (error) {
      this.#failed(error);
      return;
    } finally {
      button.disabled = false;
    }
    if (!button.isConnected) return;
    const close = popover(button, picker.element, { label: "Whom the message is for" });
    picker.keepHeight();
  }

  #take(conversationId, actor) {
    keepTarget(conversationId, actor);
    if (conversationId !== this.#conversationId) return;
    this.#chosen = actor;
    this.#draw();
    this.#box.querySelector("button").focus();
  }
}
