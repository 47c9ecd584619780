// What stands above the first message, or instead of messages: welcomes, beginnings, and what is not there.

import { spokenName } from "../store/names.js";
import { fill, h } from "./dom.js";

export class Intro {
  #box;
  #log;
  #workspace;
  #directory;
  #room;
  #verbs;

  /** `verbs`: { browse, writeTo, retry, home }. */
  constructor({ box, log }, workspace, directory, room, verbs) {
    this.#box = box;
    this.#log = log;
    this.#workspace = workspace;
    this.#directory = directory;
    this.#room = room;
    this.#verbs = verbs;
    for (const type of ["opening", "opened", "changed"]) room.addEventListener(type, () => this.draw());
  }

  draw() {
    const { id, error, conversation, window: loaded } = this.#room;
    const name = conversation ? spokenName(conversation, this.#directory) : "";
    this.#log.setAttribute("aria-label", name ? `Messages in ${name}` : "Messages");
    if (!id) this.#welcome();
    else if (error) this.#trouble(error);
    else if (conversation && loaded && !loaded.hasBefore) this.#beginning(name, loaded.items.length === 0);
    else fill(this.#box);
    this.#box.hidden = !this.#box.firstChild;
  }

  #welcome() {
    const any = this.#workspace.joined().length > 0;
    fill(
      this.#box,
      h("h2", {}, any ? `Welcome back, ${this.#directory.me.display_name}` : `Welcome to ${this.#workspace.name}`),
      h("p", {}, any ? "Choose a conversation from the list, or jump to one by name." : "You are in no conversation yet. Join a channel, create one, or write to somebody."),
      h(
        "p",
        { class: "choices-row" },
        h("button", { type: "button", class: "button primary", on: { click: () => this.#verbs.browse() } }, "Browse channels"),
        h("button", { type: "button", class: "button", on: { click: () => this.#verbs.writeTo() } }, "Write to somebody"),
      ),
    );
  }

  #trouble(error) {
    const gone = error.status === 404;
    fill(
      this.#box,
      h("h2", {}, gone ? "There is nothing here for you" : "This conversation could not be loaded"),
      h("p", {}, gone ? "It does not exist, or you are not in it." : error.message),
      gone
        ? h("a", { class: "button", href: this.#verbs.home() }, "Back to the list")
        : h("button", { type: "button", class: "button", on: { click: () => this.#verbs.retry() } }, "Try again"),
    );
  }

  #beginning(name, empty) {
    const words = empty ? "Nothing has been said here yet. Write the first message." : `This is where ${name} begins.`;
    fill(this.#box, h("h2", { dir: "auto" }, name), h("p", {}, words));
  }
}
