// Long text that is no prose (what a tool read and wrote): its beginning and its size, and all of it on demand.

import { h } from "./dom.js";

export const SHOWN_CHARS = 16_384;
/** All of a long text stands in pieces of this many characters: the browser lays out those in view. */
const PIECE_CHARS = 65_536;

/** The block that each folded node shows. */
const shown = new WeakMap();

/** What is folded until somebody opens it. */
export function folded(block, props, ...children) {
  const node = h("details", props, ...children);
  shown.set(node, block);
  return node;
}

/** Puts what the reader opened in an old drawing in the place of the same in the new one; what still grows, it opens. */
export function keepOpened(before, after) {
  const grows = after.getAttribute("aria-busy") === "true";
  const fresh = [...after.querySelectorAll("details")];
  for (const [at, old] of [...before.querySelectorAll("details")].entries()) {
    if (!old.open || !fresh[at]) continue;
    if (!grows && JSON.stringify(shown.get(old)) === JSON.stringify(shown.get(fresh[at]))) fresh[at].replaceWith(old);
    else fresh[at].open = true;
  }
}

/** The text, or its beginning with "Show all", which puts what `whole()` resolves to in its place. */
export function fold(text, whole) {
  if (text.length <= SHOWN_CHARS) return pre(text);
  const box = h("div", { class: "folded" });
  const note = h("small", { role: "status" }, `The first 16 KiB of ${sizeText(new Blob([text]).size)}`);
  const button = h("button", { type: "button", class: "quiet" }, "Show all");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const all = await whole();
      box.replaceChildren(pieces(all));
    } catch {
      button.disabled = false;
      note.textContent = "It could not be loaded.";
    }
  });
  const copy = taking("Copy all", note, whole, (all) => navigator.clipboard.writeText(all).then(() => "Copied."));
  const save = taking("Download", note, whole, (all) => download(all));
  box.append(pre(text.slice(0, SHOWN_CHARS)), h("div", { class: "more" }, note, button, copy, save));
  return box;
}

/** A button that loads the whole and does something with it; `take` may resolve to what is said afterwards. */
function taking(label, note, whole, take) {
  const button = h("button", { type: "button", class: "quiet" }, label);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      note.textContent = (await take(await whole())) ?? note.textContent;
    } catch {
      note.textContent = "It could not be loaded.";
    }
    button.disabled = false;
  });
  return button;
}

function download(text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  h("a", { href: address, download: "output.txt" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function pieces(text) {
  const box = h("div", { class: "whole", tabindex: "0" });
  for (let at = 0; at < text.length; at += PIECE_CHARS) box.append(h("pre", {}, text.slice(at, at + PIECE_CHARS)));
  return box;
}

function pre(text) {
  return h("pre", { tabindex: "0" }, text);
}

export function sizeText(bytes) {
  if (!Number.isFinite(bytes) || bytes < 0) return "";
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
