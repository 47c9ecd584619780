// What an agent works on inside, beside the conversation it works for: a process conversation, live.

import { Composer } from "./composer/composer.js";
import { Room } from "./room.js";
import { actorText } from "./store/names.js";
import { Streaming } from "./streaming.js";
import { MessageVerbs } from "./verbs/messages.js";
import { MessageActions } from "./view/actions.js";
import { fill, h, icon, iconButton } from "./view/dom.js";
import { Timeline } from "./view/timeline.js";

/** It gives no unread: nothing here counts as read. */
const NO_READING = { hold() {}, release() {} };

export class Beside {
  #app;
  #box;
  #parts;
  #close;
  #from = null;

  /** `app` gives what MessageVerbs needs; `context` is that of messageNode; `close()` leaves its address. */
  constructor(box, app, context, close) {
    this.#app = app;
    this.#box = box;
    this.#close = close;
    this.#parts = parts(box);
    this.room = new Room(app.api, app.workspace);
    const place = Object.assign(Object.create(app), { room: this.room, reading: NO_READING });
    const verbs = new MessageVerbs(place);
    this.timeline = place.timeline = new Timeline(this.#parts, this.room, app.outbox, {
      ...context,
      quoted: (id) => this.room.window?.get(id) ?? null,
      react: (message, emoji) => verbs.react(message, emoji),
      goTo: (id) => verbs.goTo(id),
    });
    this.composer = place.composer = new Composer(this.#parts.composer, verbs, (query, limit) => app.directory.find(query, limit));
    new MessageActions(this.#parts.log, this.timeline, this.room, verbs);
    this.streaming = new Streaming(this.room, app.api, () => app.live.catchUp({ conversations: false }));
    this.#wire();
  }

  get open() {
    return !this.#box.hidden;
  }

  async show(conversationId) {
    if (this.open && this.room.id === conversationId) return;
    this.#from = document.activeElement?.closest?.("article.message")?.id ?? null;
    this.#box.hidden = false;
    await this.#load(conversationId);
    if (this.room.id !== conversationId || !this.open) return;
    if (this.#from && !this.#box.contains(document.activeElement)) this.#box.querySelector("button").focus();
  }

  hide() {
    if (!this.open) return;
    const inside = this.#box.contains(document.activeElement);
    this.#box.hidden = true;
    this.room.close();
    this.composer.close();
    this.timeline.reset();
    const from = this.#from && document.getElementById(this.#from);
    if (inside && from) this.#app.timeline.focusMessage(from);
  }

  async #load(conversationId) {
    this.timeline.reset();
    const opened = this.room.open(conversationId);
    this.#draw();
    this.timeline.drawNow();
    await opened;
    if (this.room.id === conversationId) this.timeline.drawNow();
  }

  #wire() {
    const { room, timeline } = this;
    const { workspace, outbox, markup, directory, saying, announcer } = this.#app;
    for (const type of ["opening", "opened", "changed"]) room.addEventListener(type, () => this.#draw());
    room.addEventListener("changed", () => timeline.draw());
    room.addEventListener("reopen", () => this.#load(room.id));
    room.addEventListener("trouble", (event) => saying.attempt(Promise.reject(event.detail)));
    for (const type of ["arrived", "finished"]) {
      room.addEventListener(type, ({ detail }) => {
        const others = [detail].flat().filter((message) => message.author_id !== directory.me.id);
        if (type === "arrived") timeline.note(others.length);
        if (others.length) announcer.say(others);
      });
    }
    workspace.addEventListener("conversations", () => this.#draw());
    markup.addEventListener("change", () => this.open && timeline.draw());
    outbox.addEventListener("change", () => this.open && timeline.draw());
    outbox.addEventListener("stored", (event) => room.put(event.detail));
    directory.addEventListener("change", () => {
      if (!this.open) return;
      timeline.reset({ following: timeline.following });
      timeline.draw();
    });
  }

  #draw() {
    if (!this.open) return;
    const { conversation, error, window: loaded } = this.room;
    const { title, intro, gate, composer } = this.#parts;
    const actor = conversation?.actor ? actorText(conversation.actor) : "";
    const name = actor ? `Work of ${actor}` : "Work";
    if (!title.firstChild || title.dataset.name !== name + this.room.id) {
      title.dataset.name = name + this.room.id;
      fill(title, h("h2", { dir: "auto" }, name), iconButton("close", "Close the side panel", this.#close));
      this.#parts.log.setAttribute("aria-label", `Messages in ${name}`);
    }
    if (error) this.#trouble(error);
    else fill(intro, loaded && !loaded.items.length && h("p", {}, "Nothing here yet. What is done for this conversation appears here."));
    intro.hidden = !intro.firstChild;
    const may = Boolean(conversation && !conversation.archived && this.#app.mayIn(conversation).post && !error);
    composer.hidden = !may;
    gate.hidden = may || !conversation || Boolean(error);
    fill(gate, h("span", {}, conversation?.archived ? "This conversation is archived." : "Only agents and whoever started the conversation write here."));
    if (may) this.composer.open(this.room.id, `Message ${actor}`);
  }

  #trouble(error) {
    const gone = error.status === 404;
    fill(
      this.#parts.intro,
      h("p", {}, gone ? "There is nothing here for you." : error.message),
      !gone && h("button", { type: "button", class: "button", on: { click: () => this.#load(this.room.id) } }, "Try again"),
    );
  }
}

/** The panel's own timeline and composer, alike those of the page's template. */
function parts(box) {
  const title = h("header", {});
  const log = h("div", { class: "log", role: "log", "aria-live": "off" });
  const intro = h("div", { class: "intro", hidden: true });
  const above = h("div", { class: "edge", hidden: true }, "Loading older messages…");
  const below = h("div", { class: "edge", hidden: true }, "Loading newer messages…");
  const scroller = h("div", { class: "scroller" }, h("div", { class: "stack" }, above, intro, log, below));
  const jump = h("button", { type: "button", hidden: true });
  const composer = h(
    "form",
    { class: "composer", hidden: true },
    h("div", { class: "context", hidden: true }),
    h("ul", { class: "completion", id: "beside-completion", role: "listbox", "aria-label": "Members", hidden: true }),
    h(
      "div",
      { class: "row" },
      h("textarea", { rows: "1", enterkeyhint: "send", autocomplete: "off", "aria-autocomplete": "list", "aria-controls": "beside-completion" }),
      h("button", { class: "send", title: "Send", "aria-label": "Send" }, icon("send")),
    ),
    h("p", { class: "failure", role: "alert", hidden: true }),
  );
  const gate = h("div", { class: "gate", hidden: true });
  const foot = h("div", { class: "foot" }, h("div", { class: "floating" }, jump), composer, gate);
  box.replaceChildren(title, scroller, foot);
  return { title, log, intro, above, below, scroller, jump, composer, gate };
}
