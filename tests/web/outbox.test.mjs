import assert from "node:assert/strict";
import { test } from "node:test";

import { MAX_PENDING, Outbox } from "../../static/js/composer/outbox.js";
import { sends } from "../../static/js/composer/keys.js";

/** A post whose answers the test gives. */
function deferred() {
  const calls = [];
  const post = (entry) => new Promise((resolve, reject) => calls.push({ entry, resolve, reject }));
  return { calls, post };
}

const entry = (clientId, conversationId = "c") => ({ clientId, conversationId, text: clientId, replyTo: null, createdAt: "2026-03-09T10:00:00Z" });
const states = (outbox, id = "c") => outbox.pending(id).map(({ clientId, state }) => `${clientId}:${state}`);
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("one at a time for each conversation, in order", async () => {
  const { calls, post } = deferred();
  const outbox = new Outbox(post);
  outbox.add(entry("a"));
  outbox.add(entry("b"));
  outbox.add(entry("x", "other"));
  assert.deepEqual(states(outbox), ["a:sending", "b:queued"]);
  assert.deepEqual(calls.map((call) => call.entry.clientId), ["a", "x"]);
  const stored = [];
  outbox.addEventListener("stored", (event) => stored.push(event.detail.id));
  calls[0].resolve({ id: "stored-a" });
  await settled();
  assert.deepEqual(states(outbox), ["b:sending"]);
  assert.deepEqual(stored, ["stored-a"]);
});

test("when one fails, those behind it wait; a retry sends it again under the same id", async () => {
  const { calls, post } = deferred();
  const outbox = new Outbox(post);
  outbox.add(entry("a"));
  outbox.add(entry("b"));
  calls[0].reject(new Error("away"));
  await settled();
  assert.deepEqual(states(outbox), ["a:failed", "b:queued"]);
  assert.equal(outbox.pending("c")[0].error, "away");
  outbox.retry("a");
  assert.deepEqual(states(outbox), ["a:sending", "b:queued"]);
  assert.equal(calls[1].entry.clientId, "a");
  calls[1].resolve({ id: "1" });
  await settled();
  assert.deepEqual(states(outbox), ["b:sending"]);
});

test("discarding a failed one lets the next go", async () => {
  const { calls, post } = deferred();
  const outbox = new Outbox(post);
  outbox.add(entry("a"));
  outbox.add(entry("b"));
  assert.equal(outbox.discard("a"), null, "not while it is being sent");
  calls[0].reject(new Error("away"));
  await settled();
  assert.equal(outbox.discard("a").text, "a");
  assert.deepEqual(states(outbox), ["b:sending"]);
});

test("a frame that beats the answer settles it once", async () => {
  const { calls, post } = deferred();
  const outbox = new Outbox(post);
  outbox.add(entry("a"));
  outbox.add(entry("b"));
  outbox.settle("a");
  assert.deepEqual(states(outbox), ["b:queued"], "b waits for the answer that is under way");
  calls[0].resolve({ id: "1" });
  await settled();
  assert.deepEqual(states(outbox), ["b:sending"]);
  outbox.settle("unknown");
  outbox.settle(null);
});

test("an answer that is lost after its frame came is no failure", async () => {
  const { calls, post } = deferred();
  const outbox = new Outbox(post);
  outbox.add(entry("a"));
  outbox.settle("a");
  calls[0].reject(new Error("away"));
  await settled();
  assert.deepEqual(states(outbox), []);
});

test("what was under way when the page was left comes back as failed", () => {
  const kept = [];
  const first = new Outbox(() => new Promise(() => {}), { load: () => [], save: (entries) => kept.splice(0, kept.length, ...entries) });
  first.add(entry("a"));
  const second = new Outbox(() => assert.fail("sends nothing by itself"), { load: () => kept, save: () => {} });
  assert.deepEqual(states(second), ["a:failed"]);
});

test("only so many may wait", () => {
  const outbox = new Outbox(() => new Promise(() => {}));
  for (let count = 0; count < MAX_PENDING; count += 1) assert.equal(outbox.add(entry(`e${count}`)), true);
  assert.equal(outbox.add(entry("one more")), false);
});

test("Enter sends; with Shift it breaks the line; while an input method composes it does neither", () => {
  const key = (more) => sends({ key: "Enter", keyCode: 13, shiftKey: false, altKey: false, isComposing: false, ...more });
  assert.equal(key({}), true);
  assert.equal(key({ shiftKey: true }), false);
  assert.equal(key({ isComposing: true }), false);
  assert.equal(key({ keyCode: 229 }), false);
  assert.equal(key({ key: "a" }), false);
});
