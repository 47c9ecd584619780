// A message that is still written, changed in place: text is added to the text that is there, settled blocks stay as
// they are, and only a block that became something else is drawn anew.

import { blockNode, blocksOf, errorNode, growText, maySkip } from "./blocks.js";

/** What each `.content` shows of a growing message. */
const shown = new WeakMap();

/** Keeps what is needed to change this content later. `nodes` are those of `contentNodes(message.content, how)`. */
export function remember(box, message, nodes, how) {
  if (message.status === "streaming") {
    const blocks = new Map(
      blocksOf(message.content).map((block, at) => [block.id, { block, node: nodes[at], html: htmlOf(block, how) }]),
    );
    shown.set(box, { blocks, error: nodes.at(-1), how });
  }
  return box;
}

/**
 * Brings the drawn content of `before` to that of `after`, with the HTML of settled blocks by their ids (or null); false
 * where the whole message is to be drawn anew.
 */
export function growsInto(box, before, after, html) {
  const drawn = box && shown.get(box);
  if (!drawn || after.status !== "streaming" || !onlyContentChanged(before, after)) return false;
  const blocks = new Map();
  drawn.how = { ...drawn.how, html };
  let last = null;
  for (const block of blocksOf(after.content)) {
    const known = drawn.blocks.get(block.id);
    const now = known && known.html === htmlOf(block, drawn.how) && maySkip(known.block, block) ? known.block : block;
    const node = place(box, known, now, drawn.how, last);
    blocks.set(block.id, { block: now, node, html: htmlOf(block, drawn.how) });
    last = node;
  }
  for (const [id, { node }] of drawn.blocks) if (!blocks.has(id)) node.remove();
  drawn.blocks = blocks;
  drawn.error?.remove();
  drawn.error = errorNode(after.content);
  if (drawn.error) box.append(drawn.error);
  return true;
}

function place(box, known, block, how, after) {
  let node = known?.node;
  if (!known) node = blockNode(block, how);
  else if (known.html !== htmlOf(block, how) || (known.block !== block && !growText(node, block))) {
    const fresh = blockNode(block, how);
    if (node.open) fresh.open = true;
    node.replaceWith(fresh);
    node = fresh;
  }
  const next = after ? after.nextSibling : box.firstChild;
  if (node !== next) box.insertBefore(node, next);
  return node;
}

function htmlOf(block, { html }) {
  return html?.get(block.id) ?? null;
}

function onlyContentChanged(before, after) {
  const grown = new Set(["content", "error", "revision", "updated_at"]);
  return Object.keys({ ...before, ...after }).every((name) => grown.has(name) || before[name] === after[name]);
}
