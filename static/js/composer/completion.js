// Completing "@name" in the composer: a list of members above it, steered from the text field.

import { avatar } from "../view/avatar.js";
import { h } from "../view/dom.js";

const LIMIT = 6;
const MENTION_AT_END = /(^|[^\p{L}\p{N}_])@([^\s@]{0,40})$/u;

export class Completion {
  #field;
  #list;
  #find;
  #found = [];
  #active = 0;

  /** `find(query, limit)` gives members. */
  constructor(field, list, find) {
    this.#field = field;
    this.#list = list;
    this.#find = find;
    field.addEventListener("input", () => this.update());
    field.addEventListener("blur", () => this.close());
    list.addEventListener("pointerdown", (event) => event.preventDefault());
  }

  get open() {
    return this.#found.length > 0;
  }

  update() {
    const query = this.#query();
    this.#found = query === null ? [] : this.#find(query, LIMIT);
    this.#active = 0;
    this.#draw();
  }

  close() {
    this.#found = [];
    this.#draw();
  }

  /** True if the key was for the list. */
  key(event) {
    if (!this.open) return false;
    // A name that is written out needs no completing: Enter then sends.
    if (event.key === "Enter" && this.#found[this.#active].username === this.#query()) {
      this.close();
      return false;
    }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const by = event.key === "ArrowDown" ? 1 : -1;
      this.#active = (this.#active + by + this.#found.length) % this.#found.length;
      this.#draw();
    } else if (event.key === "Enter" || event.key === "Tab") this.#take(this.#found[this.#active]);
    else if (event.key === "Escape") this.close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  #query() {
    const { selectionStart, selectionEnd, value } = this.#field;
    if (selectionStart !== selectionEnd) return null;
    return MENTION_AT_END.exec(value.slice(0, selectionStart))?.[2] ?? null;
  }

  #take(member) {
    const end = this.#field.selectionStart;
    const start = end - this.#query().length;
    this.#field.setRangeText(`${member.username} `, start, end, "end");
    this.close();
    this.#field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  #draw() {
    this.#list.hidden = !this.open;
    if (!this.open) {
      this.#field.removeAttribute("aria-activedescendant");
      this.#list.replaceChildren();
      return;
    }
    this.#list.replaceChildren(
      ...this.#found.map((member, at) =>
        h(
          "li",
          { role: "option", id: `completion-${at}`, "aria-selected": String(at === this.#active), on: { click: () => this.#take(member) } },
          avatar(member, "small"),
          h("span", { class: "name" }, member.display_name),
          h("small", {}, `@${member.username}`),
        ),
      ),
    );
    this.#field.setAttribute("aria-activedescendant", `completion-${this.#active}`);
  }
}
