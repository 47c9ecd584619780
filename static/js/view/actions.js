// What can be done with a message: one toolbar for the whole timeline, moved into the message under the pointer or the
// focus, so that a long timeline does not carry hundreds of buttons.

import { editable, plainText } from "./blocks.js";
import { h, iconButton } from "./dom.js";
import { OFFERED, QUICK } from "./emoji.js";
import { menu, popover } from "./popover.js";

export class MessageActions {
  #log;
  #timeline;
  #room;
  #verbs;
  #bar = null;
  #article = null;
  #held = false;

  /** `verbs` are the messages'. */
  constructor(log, timeline, room, verbs) {
    this.#log = log;
    this.#timeline = timeline;
    this.#room = room;
    this.#verbs = verbs;
    log.addEventListener("pointerover", (event) => event.pointerType === "mouse" && this.#to(event.target));
    log.addEventListener("pointerleave", () => this.#leave());
    log.addEventListener("focusin", (event) => this.#to(event.target));
    log.addEventListener("focusout", () => queueMicrotask(() => this.#leave()));
    log.addEventListener("keydown", (event) => this.#key(event));
    timeline.addEventListener("drawn", () => this.#redraw());
  }

  #to(target) {
    if (this.#held) return;
    const article = target.closest?.("article.message[data-id]");
    if (!article || article === this.#article) return;
    this.#put(article);
  }

  #put(article) {
    const message = this.#room.window?.get(article.dataset.id);
    this.#bar?.remove();
    this.#bar = null;
    this.#article = null;
    if (!message) return;
    this.#bar = this.#toolbar(message);
    this.#article = article;
    article.append(this.#bar);
  }

  #redraw() {
    if (!this.#article) return;
    const focused = this.#log.querySelector("article.message:focus-within, article.message:hover");
    if (focused !== this.#article && !this.#held) {
      this.#bar?.remove();
      this.#article = null;
      if (focused) this.#to(focused);
    }
  }

  #leave() {
    if (this.#held || this.#log.querySelector("article:focus-within, article:hover") === this.#article) return;
    this.#bar?.remove();
    this.#bar = null;
    this.#article = null;
  }

  #toolbar(message) {
    const may = this.#verbs.may(message);
    const verbs = this.#verbs;
    const quick = may.post
      ? QUICK.slice(0, 3).map((emoji) =>
          h(
            "button",
            { type: "button", class: "tool emoji", title: `React with ${emoji}`, "aria-label": `React with ${emoji}`, on: { click: () => verbs.react(message, emoji) } },
            emoji,
          ),
        )
      : [];
    return h(
      "div",
      { class: "actions", role: "toolbar", "aria-label": "Message actions" },
      quick,
      may.post && iconButton("smile", "Add a reaction", (event) => this.#pick(event.currentTarget, message), { "aria-haspopup": "dialog" }),
      may.post && iconButton("reply", "Reply", () => verbs.reply(message)),
      message.process_conversation_id && iconButton("spark", "Work on this", () => verbs.work(message)),
      may.edit && editable(message.content) && iconButton("pencil", "Edit", () => verbs.edit(message)),
      iconButton("more", "More", (event) => this.#more(event.currentTarget, message, may), { "aria-haspopup": "menu" }),
    );
  }

  #pick(opener, message) {
    this.#held = true;
    const close = popover(
      opener,
      h(
        "div",
        { class: "emoji-grid" },
        OFFERED.map(([emoji, name]) =>
          h(
            "button",
            {
              type: "button",
              title: name,
              "aria-label": name,
              on: {
                click: () => {
                  close();
                  this.#verbs.react(message, emoji);
                },
              },
            },
            emoji,
          ),
        ),
      ),
      { label: "Reactions", onClose: () => this.#release() },
    );
  }

  #more(opener, message, may) {
    this.#held = true;
    const verbs = this.#verbs;
    const items = [
      { icon: "copy", label: "Copy text", run: () => verbs.copy(plainText(message.content)) },
      { icon: "link", label: "Copy link", run: () => verbs.copyLink(message) },
      may.mark && { icon: "unread", label: "Mark unread from here", run: () => verbs.markUnread(message) },
    ].filter(Boolean);
    if (may.delete) items.push(null, { icon: "trash", label: "Delete…", danger: true, run: () => verbs.remove(message) });
    menu(opener, items, "Message", () => this.#release());
  }

  #release() {
    this.#held = false;
    queueMicrotask(() => this.#leave());
  }

  #key(event) {
    const article = event.target.closest("article.message");
    if (!article || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      event.preventDefault();
      this.#timeline.step(article, event.key === "ArrowUp" ? -1 : 1);
    }
    const message = this.#room.window?.get(article.dataset.id);
    if (event.target !== article || !message) return;
    const may = this.#verbs.may(message);
    if (event.key === "e" && may.edit && editable(message.content)) this.#verbs.edit(message);
    else if (event.key === "r" && may.post) this.#verbs.reply(message);
    else if (event.key === "w" && message.process_conversation_id) this.#verbs.work(message);
    else if (event.key === "u" && may.mark) this.#verbs.markUnread(message);
    else if (event.key === "Delete" && may.delete) this.#verbs.remove(message);
    else return;
    event.preventDefault();
  }
}
