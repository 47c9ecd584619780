// Choosing people: a text field that filters the workspace's members, a list to choose from, and the chosen ones.

import { avatar } from "../view/avatar.js";
import { h, icon } from "../view/dom.js";

const SEARCH_AFTER_MS = 200;
const SHOWN = 8;

export class PeoplePicker {
  #directory;
  #without;
  #chosen = new Map();
  #found = [];
  #active = 0;
  #timer = 0;

  /** `without`: ids that cannot be chosen. */
  constructor(directory, { without = [], label = "People" } = {}) {
    this.#directory = directory;
    this.#without = new Set(without);
    this.chips = h("ul", { class: "chips", "aria-label": "Chosen" });
    this.list = h("ul", { class: "options", role: "listbox", id: "people-options", "aria-label": "Members" });
    this.field = h("input", {
      type: "text",
      role: "combobox",
      autocomplete: "off",
      autofocus: true,
      placeholder: "Type a name",
      "aria-controls": "people-options",
      "aria-expanded": "true",
      on: { input: () => this.#typed(), keydown: (event) => this.#key(event) },
    });
    this.element = h("div", { class: "picker" }, h("label", { class: "field" }, h("span", {}, label), this.field), this.chips, this.list);
    this.#show(this.#directory.find("", SHOWN * 3));
  }

  get ids() {
    return [...this.#chosen.keys()];
  }

  #typed() {
    const query = this.field.value;
    this.#active = 0;
    this.#show(this.#directory.find(query, SHOWN * 3));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      const found = await this.#directory.search(query, SHOWN * 3).catch(() => null);
      if (found && this.field.value === query) this.#show(found);
    }, SEARCH_AFTER_MS);
  }

  #show(found) {
    this.#found = found.filter((member) => !this.#without.has(member.id) && !this.#chosen.has(member.id)).slice(0, SHOWN);
    this.#draw();
  }

  #draw() {
    this.list.replaceChildren(
      ...this.#found.map((member, at) =>
        h(
          "li",
          { role: "option", id: `person-${at}`, "aria-selected": String(at === this.#active), on: { click: () => this.#choose(member) } },
          avatar(member, "small"),
          h("span", { class: "name" }, member.display_name),
          h("small", {}, `@${member.username}`),
        ),
      ),
    );
    if (!this.#found.length) this.list.replaceChildren(h("li", { class: "none", role: "option", "aria-disabled": "true", "aria-selected": "false" }, "Nobody else by that name"));
    if (this.#found.length) this.field.setAttribute("aria-activedescendant", `person-${this.#active}`);
    else this.field.removeAttribute("aria-activedescendant");
    this.chips.hidden = this.#chosen.size === 0;
    this.chips.replaceChildren(
      ...[...this.#chosen.values()].map((member) =>
        h(
          "li",
          {},
          member.display_name,
          h("button", { type: "button", "aria-label": `Remove ${member.display_name}`, on: { click: () => this.#drop(member) } }, icon("close")),
        ),
      ),
    );
  }

  #choose(member) {
    this.#chosen.set(member.id, member);
    this.field.value = "";
    this.#typed();
    this.field.focus();
  }

  #drop(member) {
    this.#chosen.delete(member.id);
    this.#typed();
    this.field.focus();
  }

  #key(event) {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!this.#found.length) return;
      const by = event.key === "ArrowDown" ? 1 : -1;
      this.#active = (this.#active + by + this.#found.length) % this.#found.length;
      this.#draw();
    } else if (event.key === "Enter" && (this.field.value || !this.#chosen.size) && this.#found.length) this.#choose(this.#found[this.#active]);
    else if (event.key === "Backspace" && !this.field.value && this.#chosen.size) this.#drop([...this.#chosen.values()].at(-1));
    else return;
    event.preventDefault();
  }
}
