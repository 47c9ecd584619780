// A message's blocks as nodes. Each type has one function here; a type that nobody knows is shown as what it is, folded.

import { h, icon } from "./dom.js";
import { pieces, safeUrl } from "./text.js";

const SHOWN_CHARS = 16_384;
const FOLDED_JSON_CHARS = 20_000;

const TEXT_TYPES = ["text", "markdown"];
const RENDERERS = { text: textBlock, markdown: textBlock, link: linkBlock, file: linkBlock, image: linkBlock };

/** The nodes of a content model. `mentioned` are the members that the message mentions. */
export function contentNodes(content, mentioned) {
  const blocks = Array.isArray(content?.blocks) ? content.blocks : [];
  const nodes = blocks.map((block) => (RENDERERS[block.type] ?? unknownBlock)(block, mentioned));
  const error = content?.meta?.error;
  if (error?.message) nodes.push(h("p", { class: "block-error" }, icon("warning"), error.message));
  return nodes;
}

/** The text of the text blocks, as it is edited and copied. */
export function plainText(content) {
  const blocks = Array.isArray(content?.blocks) ? content.blocks : [];
  return blocks
    .filter((block) => TEXT_TYPES.includes(block.type))
    .map(textOf)
    .join("\n\n");
}

/** True if the message is text only, so that editing it as text loses nothing. */
export function editable(content) {
  const blocks = content?.blocks ?? [];
  return blocks.length > 0 && blocks.every((block) => TEXT_TYPES.includes(block.type));
}

function textOf(block) {
  return typeof block.content === "string" ? block.content : "";
}

function textBlock(block, mentioned) {
  const text = textOf(block);
  const node = h("div", { class: "text", dir: "auto" }, textNodes(text.slice(0, SHOWN_CHARS), mentioned));
  if (text.length <= SHOWN_CHARS) return node;
  const rest = text.length - SHOWN_CHARS;
  const more = h("button", { type: "button", class: "quiet" }, `Show ${rest.toLocaleString()} more characters`);
  more.addEventListener("click", () => node.replaceChildren(...textNodes(text, mentioned)));
  node.append(h("div", { class: "more" }, more));
  return node;
}

function textNodes(text, mentioned) {
  return pieces(text, mentioned).map((piece) => {
    if (piece.kind === "link") return externalLink(piece.href, piece.text);
    if (piece.kind === "mention") {
      const { member } = piece;
      const mine = member.me ? " me" : "";
      return h("span", { class: `mention${mine}`, title: `@${member.username}` }, `@${member.display_name}`);
    }
    return document.createTextNode(piece.text);
  });
}

function externalLink(href, text) {
  return h("a", { href, rel: "noopener noreferrer nofollow", target: "_blank" }, text);
}

function linkBlock(block) {
  const address = block.url ?? block.href ?? "";
  const href = safeUrl(address);
  const label = String(block.title || block.name || block.filename || address || "untitled");
  const name = block.type === "link" ? "link" : "file";
  if (!href) return h("p", { class: "attachment" }, icon(name), h("span", {}, label), h("small", {}, address ? "not a web address" : "without an address"));
  const detail = block.type === "link" ? new URL(href).host : [block.mimetype, sizeText(block.size)].filter(Boolean).join(", ");
  return h("p", { class: "attachment" }, icon(name), externalLink(href, label), detail && h("small", {}, detail));
}

function sizeText(bytes) {
  if (!Number.isFinite(bytes) || bytes < 0) return "";
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function unknownBlock(block) {
  const json = JSON.stringify(block, null, 2);
  return h(
    "details",
    { class: "unknown-block" },
    h("summary", {}, `${String(block.type ?? "untyped")} block`),
    h("pre", { tabindex: "0" }, json.length > FOLDED_JSON_CHARS ? `${json.slice(0, FOLDED_JSON_CHARS)}\n…` : json),
  );
}
