import assert from "node:assert/strict";
import { test } from "node:test";

import { LET_GO, MAX_LOADED, MessageWindow } from "../../static/js/store/window.js";

const id = (n) => `m${String(n).padStart(6, "0")}`;
const message = (n, revision = 0) => ({ id: id(n), seq: n, revision });
const page = (from, to, more = {}) => ({
  items: Array.from({ length: to - from + 1 }, (_, at) => message(from + at)),
  has_more_before: from > 1,
  has_more_after: false,
  ...more,
});
const seqs = (window) => window.items.map((item) => item.seq);

function opened(from, to, more) {
  const window = new MessageWindow("c");
  window.replace(page(from, to, more));
  return window;
}

test("messages are put in id order, whatever order they come in", () => {
  const window = opened(5, 6);
  assert.equal(window.put(message(9)), "added");
  assert.equal(window.put(message(8)), "added");
  assert.equal(window.put(message(4)), "outside", "it lies before the loaded part");
  assert.deepEqual(seqs(window), [5, 6, 8, 9]);
});

test("a newer revision replaces, an older one is left out", () => {
  const window = opened(1, 2);
  assert.equal(window.put(message(2, 3)), "updated");
  assert.equal(window.put(message(2, 2)), "stale");
  assert.equal(window.put(message(2, 3)), "stale");
  assert.equal(window.put({ ...message(2, 3), reactions: {} }), "updated");
  assert.equal(window.get(id(2)).revision, 3);
});

test("while newer pages are not loaded, what arrives is only counted", () => {
  const window = opened(1, 3, { has_more_after: true });
  assert.equal(window.put(message(9)), "outside");
  assert.equal(window.beyond, 1);
  window.append({ items: [message(4), message(9)], has_more_after: false });
  assert.deepEqual(seqs(window), [1, 2, 3, 4, 9]);
  assert.equal(window.beyond, 0);
});

test("a refresh drops what is gone, takes what is new, and keeps the size of the view", () => {
  const window = opened(10, 14);
  window.refresh({ ...page(1, 18), items: page(1, 18).items.filter((item) => item.seq !== 12) });
  assert.deepEqual(seqs(window), [10, 11, 13, 14, 15, 16, 17, 18]);
  assert.equal(window.hasBefore, true);
});

test("a refresh keeps what says the same as the object it was", () => {
  const window = opened(1, 2);
  const [first, second] = window.items;
  window.refresh({ ...page(1, 2), items: [message(1), message(2, 1)] });
  assert.equal(window.items[0], first);
  assert.notEqual(window.items[1], second);
});

test("a refresh of a view that a page cannot cover becomes that page", () => {
  const window = opened(1, 300);
  window.refresh(page(200, 310));
  assert.deepEqual([window.first.seq, window.last.seq, window.hasBefore], [200, 310, true]);
});

test("a refresh does not bring an older revision back", () => {
  const window = opened(1, 3);
  window.put(message(3, 5));
  window.refresh(page(1, 3));
  assert.equal(window.get(id(3)).revision, 5);
});

test("a very long view lets go of its far end", () => {
  const window = opened(1_000, 1_000 + MAX_LOADED - 1);
  window.prepend(page(950, 999));
  assert.equal(window.items.length, MAX_LOADED);
  assert.deepEqual([window.first.seq, window.hasAfter], [950, true]);
  window.append({ ...page(1_000 + MAX_LOADED - 50, 1_000 + MAX_LOADED - 1), has_more_after: false });
  assert.equal(window.items.length, MAX_LOADED);
  assert.deepEqual([window.first.seq, window.hasBefore, window.hasAfter], [1_000, true, false]);
});

test("a view that new messages make too long lets go of its oldest", () => {
  const window = opened(1, MAX_LOADED);
  assert.equal(window.hasBefore, false);
  window.put(message(MAX_LOADED + 1));
  assert.deepEqual([window.first.seq, window.last.seq, window.hasBefore], [LET_GO + 1, MAX_LOADED + 1, true]);
});

test("pages that overlap double nothing", () => {
  const window = opened(5, 8);
  window.prepend(page(3, 6));
  assert.deepEqual(seqs(window), [3, 4, 5, 6, 7, 8]);
});

test("reactions change a message without a revision; a removed one is gone", () => {
  const window = opened(1, 2);
  assert.equal(window.patch(id(2), { reactions: { "👍": ["x"] } }), true);
  assert.deepEqual(window.items[1].reactions, { "👍": ["x"] });
  assert.equal(window.remove(id(2)), true);
  assert.equal(window.remove(id(2)), false);
  assert.equal(window.patch(id(2), {}), false);
});
