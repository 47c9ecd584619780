// A message's blocks as nodes. Each type has one function here; a type that nobody knows is shown as what it is, folded.

import { h, icon } from "./dom.js";
import { fold, folded, sizeText } from "./folded.js";
import { pieces, safeUrl } from "./text.js";

const SHOWN_CHARS = 16_384;

/** Up to here a growing text is brought up to date at every frame; a longer one when it has grown by a part of itself. */
const SMOOTH_CHARS = 131_072;
const STEP = 1 / 64;

const TEXT_TYPES = ["text", "markdown"];
const RENDERERS = { text: textBlock, markdown: textBlock, link: linkBlock, file: linkBlock, image: linkBlock };
for (const type of ["tool", "tool_call", "tool_use", "tool_result"]) RENDERERS[type] = toolBlock;

/**
 * The nodes of a content model. `how`: { mentioned: members that the message mentions, html: safe HTML by block id or
 * null, growing: whether it is still written, whole(blockId) → the block, read anew }.
 */
export function contentNodes(content, how) {
  return [...blocksOf(content).map((block) => blockNode(block, how)), errorNode(content)];
}

export function blocksOf(content) {
  return Array.isArray(content?.blocks) ? content.blocks : [];
}

export function blockNode(block, how) {
  return (RENDERERS[block.type] ?? unknownBlock)(block, how);
}

export function errorNode(content) {
  const error = content?.meta?.error;
  return error?.message ? h("p", { class: "block-error" }, icon("warning"), error.message) : null;
}

/** Makes the node of a growing text say what the block says now; false where that needs a new node. */
export function growText(node, block) {
  const text = textOf(block);
  const held = node.firstChild;
  if (!TEXT_TYPES.includes(block.type) || held?.nodeType !== Node.TEXT_NODE || !text.startsWith(held.data)) return false;
  if (text.length > held.length && isStep(held.length, text.length)) held.appendData(text.slice(held.length));
  return true;
}

/** Whether a long block that only goes on in one of its texts has not gone on by enough to be drawn again. */
export function maySkip(before, after) {
  const names = Object.keys(after);
  if (names.length !== Object.keys(before).length) return false;
  const changed = names.filter((name) => before[name] !== after[name]);
  const [old, now] = [before[changed[0]], after[changed[0]]];
  return changed.length === 1 && typeof old === "string" && typeof now === "string" && now.length > old.length && !isStep(old.length, now.length);
}

function isStep(from, to) {
  return to <= SMOOTH_CHARS || to - from >= to * STEP;
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

function textBlock(block, { mentioned, html, growing }) {
  const text = textOf(block);
  const safe = html?.get(block.id);
  if (safe !== undefined) return richText(safe, block.id, mentioned);
  if (growing) return h("div", { class: "text", dir: "auto" }, document.createTextNode(text));
  const node = h("div", { class: "text", dir: "auto" }, textNodes(text.slice(0, SHOWN_CHARS), mentioned));
  if (text.length <= SHOWN_CHARS) return node;
  const rest = text.length - SHOWN_CHARS;
  const more = h("button", { type: "button", class: "quiet" }, `Show ${rest.toLocaleString()} more characters`);
  more.addEventListener("click", () => node.replaceChildren(...textNodes(text, mentioned)));
  node.append(h("div", { class: "more" }, more));
  return node;
}

/** The one place where a string is read as HTML: the server's own, from which all but an allow-list was taken. */
function richText(html, id, mentioned) {
  const node = h("div", { class: "text rich", dir: "auto", data: { block: id } });
  node.innerHTML = html;
  const mine = mentioned.filter((member) => member.me).map((member) => `@${member.username}`);
  for (const span of node.querySelectorAll(".mention")) if (mine.includes(span.title)) span.classList.add("me");
  for (const part of node.querySelectorAll("pre")) part.tabIndex = 0;
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

const STATES = { completed: "done", success: "done", ok: "done", in_progress: "running", started: "running", error: "failed" };

function toolBlock(block, how) {
  const state = String(block.status ?? block.state ?? "");
  const name = String(block.name ?? block.tool_name ?? block.tool ?? block.title ?? block.type.replaceAll("_", " "));
  const fields = [
    ["Input", ["input", "arguments", "args"]],
    ["Output", ["output", "result", "content"]],
    ["Error", ["error"]],
  ];
  const parts = fields.map(([label, names]) => {
    const field = names.find((each) => block[each] !== undefined && block[each] !== null && block[each] !== "");
    return field && [h("h4", {}, label), fold(written(block[field]), async () => written((await how.whole(block.id))[field]))];
  });
  return folded(
    block,
    { class: "unknown-block tool-block" },
    h("summary", {}, icon("spark"), h("b", {}, name), state && h("small", {}, STATES[state] ?? state)),
    parts,
  );
}

function unknownBlock(block, how) {
  return folded(
    block,
    { class: "unknown-block" },
    h("summary", {}, `${String(block.type ?? "untyped")} block`),
    fold(written(block), async () => written(await how.whole(block.id))),
  );
}

function written(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** The HTML with which the server drew the first screen: `{ id, revision, blocks: [{ id, html }] }` by message. */
export function drawnMarkup(log) {
  return [...log.querySelectorAll("article[data-revision]")].flatMap((article) => {
    const blocks = [...article.querySelectorAll(".rich[data-block]")].map((node) => ({ id: node.dataset.block, html: node.innerHTML }));
    return blocks.length ? [{ id: article.id.slice("m-".length), revision: Number(article.dataset.revision), blocks }] : [];
  });
}
