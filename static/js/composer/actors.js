// A list of agents to choose one from, filtered by typing; its first entry is everybody.

import { actorText } from "../store/names.js";
import { h, icon } from "../view/dom.js";

const SEARCH_AFTER_MS = 150;

export class ActorPicker {
  #find;
  #choose;
  #shown = [];
  #active = 0;
  #timer = 0;
  #failure = "";

  /** `find(query)` → [{ kind, key, name, online }]; `choose(actor)` is called with one of them, or null. */
  constructor(find, choose) {
    this.#find = find;
    this.#choose = choose;
    this.list = h("ul", { class: "options", role: "listbox", id: "addressees", "aria-label": "Addressees" });
    this.field = h("input", {
      type: "text",
      role: "combobox",
      autocomplete: "off",
      autofocus: true,
      placeholder: "Filter by name",
      "aria-label": "Filter by name",
      "aria-controls": "addressees",
      "aria-expanded": "true",
      on: { input: () => this.#typed(), keydown: (event) => this.#key(event) },
    });
    this.element = h("div", { class: "picker addressees" }, h("div", { class: "field" }, this.field), this.list);
  }

  async load(query) {
    const found = await this.#find(query);
    if (query !== this.field.value.trim()) return;
    this.#shown = query ? found : [null, ...found];
    this.#active = 0;
    this.#failure = "";
    this.#draw();
  }

  /** The place beside its button was found for this height. */
  keepHeight() {
    this.list.style.minHeight = `${this.list.offsetHeight}px`;
  }

  #typed() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      try {
        await this.load(this.field.value.trim());
      } catch (error) {
        this.#shown = [];
        this.#failure = error.message;
        this.#draw();
      }
    }, SEARCH_AFTER_MS);
  }

  #draw() {
    this.list.replaceChildren(...this.#shown.map((actor, at) => this.#option(actor, at)));
    if (this.#shown.length) {
      this.field.setAttribute("aria-activedescendant", `addressee-${this.#active}`);
      return;
    }
    this.field.removeAttribute("aria-activedescendant");
    this.list.append(h("li", { class: "none", role: "option", "aria-disabled": "true", "aria-selected": "false" }, this.#failure || "No agent by that name"));
  }

  #option(actor, at) {
    return h(
      "li",
      { role: "option", id: `addressee-${at}`, "aria-selected": String(at === this.#active), on: { click: () => this.#choose(actor) } },
      icon(actor ? "spark" : "people"),
      h("span", { class: "name", dir: "auto" }, actor ? actor.name || actor.key : "Everybody here"),
      actor && h("small", {}, actorText(actor), actor.online && " · online"),
    );
  }

  #key(event) {
    if (event.isComposing || event.keyCode === 229 || !this.#shown.length) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const by = event.key === "ArrowDown" ? 1 : -1;
      this.#active = (this.#active + by + this.#shown.length) % this.#shown.length;
      this.#draw();
    } else if (event.key === "Enter") this.#choose(this.#shown[this.#active]);
    else return;
    event.preventDefault();
  }
}
