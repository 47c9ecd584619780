// The composer: writes, replies and edits. It keeps a draft for each conversation and hands finished messages over.

import { keepDraft, readDraft } from "../store/kept.js";
import { plainText } from "../view/blocks.js";
import { h, icon, iconButton } from "../view/dom.js";
import { Addressee } from "./addressee.js";
import { Completion } from "./completion.js";
import { composing, sends } from "./keys.js";

const MAX_ROWS_SHARE = 0.4;

export class Composer {
  #form;
  #field;
  #context;
  #failure;
  #completion;
  #addressee = null;
  #verbs;
  #conversationId = null;
  #replyTo = null;
  #editing = null;
  #saving = false;

  /** `verbs` are the messages'; `find(query, limit)` gives members to mention. */
  constructor(form, verbs, find) {
    this.#form = form;
    this.#field = form.querySelector("textarea");
    this.#context = form.querySelector(".context");
    this.#failure = form.querySelector(".failure");
    this.#verbs = verbs;
    this.#completion = new Completion(this.#field, form.querySelector(".completion"), find);
    const to = form.querySelector(".to");
    if (to) this.#addressee = new Addressee(to, (id) => verbs.agents(id), (error) => this.#say(error.message));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#field.addEventListener("keydown", (event) => this.#key(event));
    this.#field.addEventListener("input", () => this.#changed());
  }

  /**
   * Opens for a conversation with its draft, or with what was typed before this module was there. `directed`: messages
   * in it can be directed at agents.
   */
  open(conversationId, placeholder, { directed = false } = {}) {
    this.#field.placeholder = placeholder;
    this.#field.setAttribute("aria-label", placeholder);
    if (conversationId === this.#conversationId) return;
    this.#addressee?.open(directed ? conversationId : null);
    const typed = this.#conversationId === null ? this.#field.value : "";
    this.#conversationId = conversationId;
    this.#editing = null;
    const draft = readDraft(conversationId);
    this.#replyTo = draft.replyTo;
    this.#write(typed || draft.text);
    if (typed) this.#keep();
  }

  /** No conversation is open. */
  close() {
    this.#conversationId = "";
    this.#editing = null;
  }

  focus() {
    this.#field.focus({ preventScroll: true });
  }

  reply(message) {
    if (this.#editing) this.#stopEditing();
    this.#replyTo = message.id;
    this.#keep();
    this.#drawContext();
    this.focus();
  }

  edit(message) {
    if (!this.#editing) this.#keep();
    this.#editing = message;
    this.#write(plainText(message.content));
    this.focus();
    this.#field.setSelectionRange(this.#field.value.length, this.#field.value.length);
  }

  async #submit() {
    const text = this.#field.value.trim();
    if (!text || this.#saving) return;
    this.#say("");
    if (this.#editing) return this.#saveEdit(text);
    if (!this.#verbs.send(text, this.#replyTo, this.#addressee?.target ?? null)) return this.#say("Too many messages wait already. Send or discard them first.");
    this.#replyTo = null;
    this.#write("");
    this.#keep();
  }

  async #saveEdit(text) {
    const message = this.#editing;
    if (text === plainText(message.content).trim()) return this.#stopEditing();
    this.#saving = true;
    this.#form.setAttribute("aria-busy", "true");
    try {
      await this.#verbs.saveEdit(message, text);
      if (this.#editing === message) this.#stopEditing();
    } catch (error) {
      this.#say(`Not saved. ${error.message}`);
    } finally {
      this.#saving = false;
      this.#form.removeAttribute("aria-busy");
    }
  }

  #stopEditing() {
    this.#editing = null;
    const draft = readDraft(this.#conversationId);
    this.#replyTo = draft.replyTo;
    this.#write(draft.text);
  }

  #key(event) {
    if (composing(event) || this.#completion.key(event)) return;
    if (sends(event)) {
      event.preventDefault();
      this.#submit();
    } else if (event.key === "Escape" && (this.#editing || this.#replyTo)) {
      event.preventDefault();
      event.stopPropagation();
      this.#cancelContext();
    } else if (event.key === "ArrowUp" && !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey && !this.#field.value && !this.#editing) {
      const own = this.#verbs.lastOwn();
      if (!own) return;
      event.preventDefault();
      this.edit(own);
    }
  }

  #cancelContext() {
    if (this.#editing) return this.#stopEditing();
    this.#replyTo = null;
    this.#keep();
    this.#drawContext();
  }

  #changed() {
    this.#grow();
    if (!this.#editing) this.#keep();
  }

  #keep() {
    if (this.#editing || !this.#conversationId) return;
    keepDraft(this.#conversationId, { text: this.#field.value, replyTo: this.#replyTo });
  }

  #write(text) {
    this.#field.value = text;
    this.#completion.close();
    this.#say("");
    this.#drawContext();
    this.#grow();
  }

  #grow() {
    this.#field.style.height = "auto";
    this.#field.style.height = `${Math.min(this.#field.scrollHeight, innerHeight * MAX_ROWS_SHARE)}px`;
    this.#form.classList.toggle("ready", Boolean(this.#field.value.trim()));
  }

  #drawContext() {
    const editing = Boolean(this.#editing);
    this.#form.classList.toggle("editing", editing);
    this.#context.hidden = !editing && !this.#replyTo;
    if (this.#context.hidden) return this.#context.replaceChildren();
    this.#context.replaceChildren(
      icon(editing ? "pencil" : "reply"),
      h("span", {}, editing ? "Editing your message" : `Replying to ${this.#verbs.nameOf(this.#replyTo)}`),
      iconButton("close", editing ? "Stop editing" : "Do not reply", () => {
        this.#cancelContext();
        this.focus();
      }),
    );
  }

  #say(words) {
    this.#failure.textContent = words;
    this.#failure.hidden = !words;
  }
}
