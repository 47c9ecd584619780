import assert from "node:assert/strict";
import { test } from "node:test";

import { advanced, badgeLabel, nothing, number, replaced, totals } from "../../static/js/store/unread.js";

const ready = (messages, more = {}) => ({ state: "ready", messages, activities: 0, manual: false, mentions: 0, ...more });
const snapshot = (version, counts, epoch = 1) => ({ epoch, version, has_unread: Object.keys(counts).length > 0, counts });
const delta = (since, version, counts, more = {}) => ({ epoch: 1, since, version, has_unread: true, counts, ...more });

test("a snapshot replaces everything, also with an older version", () => {
  const before = replaced(snapshot(9, { a: ready(3) }));
  const after = replaced(snapshot(2, { b: ready(1) }));
  assert.deepEqual([...before.counts.keys()], ["a"]);
  assert.deepEqual([...after.counts.keys()], ["b"]);
  assert.equal(after.version, 2);
});

test("a delta that follows applies, and an entry at zero goes", () => {
  const start = replaced(snapshot(5, { a: ready(3), b: ready(1) }));
  const { state, resync } = advanced(start, delta(5, 7, { a: ready(0), c: ready(2) }));
  assert.equal(resync, false);
  assert.deepEqual([...state.counts.keys()], ["b", "c"]);
  assert.equal(state.version, 7);
  assert.deepEqual([...start.counts.keys()], ["a", "b"], "the state before is untouched");
});

test("a delta over a gap asks for the snapshot and changes nothing", () => {
  const start = replaced(snapshot(5, { a: ready(3) }));
  const answer = advanced(start, delta(6, 7, { a: ready(9) }));
  assert.equal(answer.resync, true);
  assert.equal(answer.state, start);
});

test("a delta of another epoch asks for the snapshot", () => {
  const start = replaced(snapshot(5, {}));
  assert.equal(advanced(start, delta(5, 6, {}, { epoch: 2 })).resync, true);
});

test("a delta that is already contained is dropped in silence", () => {
  const start = replaced(snapshot(5, { a: ready(3) }));
  const answer = advanced(start, delta(3, 5, { a: ready(1) }));
  assert.deepEqual(answer, { state: start, resync: false });
});

test("before anything is known every delta asks", () => {
  assert.equal(advanced(nothing(), delta(0, 1, {})).resync, true);
});

test("states that show no count show none, but a manual marker shows in each", () => {
  const counts = {
    stale: { ...ready(4), state: "stale" },
    hydrating: { ...ready(4), state: "hydrating" },
    marked: { ...ready(0), state: "stale", manual: true },
    hint: { ...ready(2), state: "snapshot_serving" },
  };
  const state = replaced(snapshot(1, counts));
  assert.deepEqual([...state.counts.keys()], ["marked", "hint"]);
  assert.equal(number(counts.stale), 0);
  assert.deepEqual(totals(state), { count: 2, mentions: 0, hasUnread: true });
});

test("totals leave out what is being read, unless it is marked by hand", () => {
  const state = replaced(snapshot(1, { a: ready(3), b: ready(2, { mentions: 1, activities: 4 }) }));
  assert.deepEqual(totals(state), { count: 9, mentions: 1, hasUnread: true });
  assert.deepEqual(totals(state, "b"), { count: 3, mentions: 0, hasUnread: true });
  const marked = replaced(snapshot(1, { a: ready(0, { manual: true }) }));
  assert.deepEqual(totals(marked, "a"), { count: 0, mentions: 0, hasUnread: true });
  const only = replaced(snapshot(1, { a: ready(3) }));
  assert.deepEqual(totals(only, "a"), { count: 0, mentions: 0, hasUnread: false });
});

test("a red dot without entries (they were left out) still shows", () => {
  assert.equal(totals({ ...nothing(), hasUnread: true }).hasUnread, true);
});

test("badges say exact numbers, hints as hints, and markers as dots", () => {
  assert.deepEqual(badgeLabel(ready(3)), { text: "3", spoken: "3 unread" });
  assert.deepEqual(badgeLabel(ready(120, { mentions: 2 })), { text: "99+", spoken: "120 unread, 2 mentioning you" });
  assert.deepEqual(badgeLabel({ ...ready(3), state: "snapshot_serving" }), { text: "3", spoken: "about 3 unread" });
  assert.deepEqual(badgeLabel(ready(0, { manual: true })), { text: "", spoken: "marked unread" });
  assert.equal(badgeLabel(ready(0)), null);
});
