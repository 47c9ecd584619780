// The timeline: draws the rows of the open conversation, follows its end only when the reader is there, and keeps the
// place of what the reader looks at when older messages are put above it.

import { dayLabel } from "./dates.js";
import { arrange, h, icon } from "./dom.js";
import { keepOpened } from "./folded.js";
import { growsInto } from "./growing.js";
import { rows } from "./layout.js";
import { messageNode, pendingNode } from "./message.js";

const NEAR_END_PX = 48;
const LOAD_AHEAD = "600px 0px";

export class Timeline extends EventTarget {
  #scroller;
  #log;
  #above;
  #below;
  #jump;
  #room;
  #outbox;
  #context;
  #act;
  #nodes = new Map();
  #following = true;
  #frame = 0;
  #drawnTop = 0;
  #arrived = 0;
  #afterDraw = [];

  /** `context` is the one of `messageNode`. */
  constructor({ scroller, log, above, below, jump }, room, outbox, context) {
    super();
    this.#scroller = scroller;
    this.#log = log;
    this.#above = above;
    this.#below = below;
    this.#jump = jump;
    this.#room = room;
    this.#outbox = outbox;
    this.#context = context;
    this.#act = { retry: (id) => outbox.retry(id), discard: (id) => outbox.discard(id) };
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    jump.addEventListener("click", () => this.toEnd());
    const sizes = new ResizeObserver(() => this.#following && this.#pin());
    sizes.observe(scroller);
    sizes.observe(log);
    const edges = new IntersectionObserver((entries) => this.#edges(entries), { root: scroller, rootMargin: LOAD_AHEAD });
    edges.observe(above);
    edges.observe(below);
  }

  /** At the end of the conversation, with nothing newer left out. */
  get atEnd() {
    return this.#near() && !this.#room.window?.hasAfter;
  }

  get following() {
    return this.#following;
  }

  /** The first message in view. */
  get topId() {
    return this.#anchor()?.id.slice("m-".length) ?? null;
  }

  /** Draws once before the next frame, however often it is asked; `then` runs after that drawing. */
  draw(then) {
    if (then) this.#afterDraw.push(then);
    if (!this.#frame) this.#frame = requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const window = this.#room.window;
    const anchor = this.#following ? null : this.#anchor();
    const alive = new Set();
    const nodes = (window ? this.#rows(window) : []).map((row) => {
      alive.add(row.key);
      return this.#node(row);
    });
    for (const key of this.#nodes.keys()) if (!alive.has(key)) this.#nodes.delete(key);
    arrange(this.#log, nodes);
    this.#above.hidden = !window?.hasBefore;
    this.#below.hidden = !window?.hasAfter;
    this.#keepTabStop();
    if (this.#following) this.#pin();
    else this.#restore(anchor);
    for (const then of this.#afterDraw.splice(0)) then();
    this.#drawJump();
    this.dispatchEvent(new Event("drawn"));
  }

  /** Forgets every node: another conversation follows, or names have changed. */
  reset({ following = true } = {}) {
    this.#nodes.clear();
    this.#following = following;
    this.#arrived = 0;
  }

  /** Says that messages of others came in while the reader was elsewhere. */
  note(count) {
    this.#arrived = this.#following ? 0 : this.#arrived + count;
  }

  async toEnd() {
    this.#arrived = 0;
    if (this.#room.window?.hasAfter) await this.#room.latest();
    this.#following = true;
    this.drawNow();
  }

  /** Scrolls a loaded message into the middle, marks it for a moment, and moves the focus there. */
  show(id, { focus = true } = {}) {
    const node = this.#nodes.get(id)?.node;
    if (!node) return false;
    this.#following = false;
    node.scrollIntoView({ block: "center" });
    node.classList.remove("flash");
    void node.offsetWidth;
    node.classList.add("flash");
    if (focus) this.focusMessage(node);
    return true;
  }

  /** Puts the "new messages" line into the upper third, or the end if everything after it fits. */
  showLine() {
    const line = this.#log.querySelector(".newline");
    if (!line) return false;
    const top = line.offsetTop - this.#scroller.clientHeight / 3;
    this.#scroller.scrollTop = Math.max(0, top);
    this.#following = this.#near();
    if (this.#following) this.#pin();
    return true;
  }

  focusMessage(node) {
    for (const other of this.#log.querySelectorAll('article[tabindex="0"]')) other.tabIndex = -1;
    node.tabIndex = 0;
    node.focus({ preventScroll: true });
    node.scrollIntoView({ block: "nearest" });
  }

  /** Moves the focus to the next (1) or previous (-1) message. */
  step(from, by) {
    const articles = [...this.#log.querySelectorAll("article.message")];
    const next = articles[articles.indexOf(from) + by];
    if (next) this.focusMessage(next);
  }

  #rows(window) {
    const visible = window.items.filter((message) => message.message_type !== "task_dispatch");
    return rows(visible, {
      pending: window.hasAfter ? [] : this.#outbox.pending(window.conversationId),
      newAfterSeq: this.#room.newAfterSeq,
      myId: this.#context.directory.me.id,
    });
  }

  #node(row) {
    const known = this.#nodes.get(row.key);
    const subject = row.message ?? row.entry ?? row.time;
    const words = row.kind === "day" ? dayLabel(row.time) : "";
    const quoted = row.message?.reply_to_id ? this.#context.quoted(row.message.reply_to_id) : null;
    const html = row.message ? this.#context.markup(row.message) : null;
    if (known && known.grouped === row.grouped && known.words === words && known.quoted === quoted) {
      if (known.subject === subject && known.html === html) return known.node;
      if (row.message && growsInto(known.node.querySelector(".content"), known.subject, subject, html)) {
        Object.assign(known, { subject, html });
        return known.node;
      }
    }
    const node = this.#make(row, words);
    if (known && row.kind === "message") keepOpened(known.node, node);
    if (known?.node.contains(document.activeElement) && row.kind === "message") this.draw(() => this.focusMessage(node));
    this.#nodes.set(row.key, { node, subject, grouped: row.grouped, words, quoted, html });
    return node;
  }

  #make(row, words) {
    if (row.kind === "day") return h("div", { class: "day", role: "separator", "aria-label": words }, h("span", {}, words));
    if (row.kind === "new") return h("div", { class: "newline", role: "separator", "aria-label": "New messages" }, h("span", {}, "New"));
    if (row.kind === "pending") return pendingNode(row, this.#context, this.#act);
    return messageNode(row, this.#context);
  }

  /** One message can be reached by Tab: the last one, or where the reader was. */
  #keepTabStop() {
    if (this.#log.querySelector('article[tabindex="0"]')) return;
    const articles = this.#log.querySelectorAll("article.message");
    if (articles.length) articles[articles.length - 1].tabIndex = 0;
  }

  #near() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    return scrollHeight - scrollTop - clientHeight <= NEAR_END_PX;
  }

  #pin() {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#drawnTop = this.#scroller.scrollTop;
  }

  #scrolled() {
    const moved = this.#scroller.scrollTop !== this.#drawnTop;
    this.#drawnTop = this.#scroller.scrollTop;
    if (moved) this.#following = this.#near() && !this.#room.window?.hasAfter;
    if (this.#following) this.#arrived = 0;
    this.#drawJump();
    this.dispatchEvent(new Event("scrolled"));
  }

  #anchor() {
    const top = this.#scroller.getBoundingClientRect().top;
    for (const node of this.#log.children) {
      const box = node.getBoundingClientRect();
      if (box.bottom > top && node.id) return { id: node.id, offset: box.top - top };
    }
    return null;
  }

  #restore(anchor) {
    const node = anchor && document.getElementById(anchor.id);
    if (!node) return;
    const offset = node.getBoundingClientRect().top - this.#scroller.getBoundingClientRect().top;
    this.#scroller.scrollTop += offset - anchor.offset;
    this.#drawnTop = this.#scroller.scrollTop;
  }

  #drawJump() {
    const count = this.#arrived + (this.#room.window?.beyond ?? 0);
    const away = !this.#following && (count > 0 || this.#room.window?.hasAfter || this.#farFromEnd());
    this.#jump.hidden = !away;
    if (!away) return;
    const words = count > 0 ? `${count} new` : "Latest";
    if (this.#jump.dataset.words === words) return;
    this.#jump.dataset.words = words;
    this.#jump.replaceChildren(icon("arrow-down"), words);
  }

  #farFromEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    return scrollHeight - scrollTop - clientHeight > clientHeight;
  }

  #edges(entries) {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting || target.hidden) continue;
      if (target === this.#above) this.#room.older();
      else this.#room.newer();
    }
  }
}
