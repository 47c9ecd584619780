import assert from "node:assert/strict";
import { test } from "node:test";

import { dayKey, dayLabel } from "../../static/js/view/dates.js";
import { rows } from "../../static/js/view/layout.js";

const UTC = "UTC";
const message = (seq, author, time, more = {}) => ({
  id: `m${seq}`,
  seq,
  author_id: author,
  created_at: time,
  message_type: "default",
  reply_to_id: null,
  ...more,
});
const shape = (list, options) => rows(list, { timeZone: UTC, ...options }).map((row) => (row.kind === "message" ? `${row.key}${row.grouped ? "+" : ""}` : row.key));

test("a day begins in the reader's zone, not in UTC", () => {
  assert.equal(dayKey("2026-03-09T23:30:00Z", UTC), "2026-03-09");
  assert.equal(dayKey("2026-03-09T23:30:00Z", "Asia/Shanghai"), "2026-03-10");
});

test("today, yesterday, a day of this year, and one of another", () => {
  const now = Date.parse("2026-03-10T12:00:00Z");
  assert.equal(dayLabel("2026-03-10T00:10:00Z", now, UTC), "Today");
  assert.equal(dayLabel("2026-03-09T23:50:00Z", now, UTC), "Yesterday");
  assert.match(dayLabel("2026-03-02T10:00:00Z", now, UTC), /Monday.*2.*March|Monday.*March 2/);
  assert.match(dayLabel("2024-03-02T10:00:00Z", now, UTC), /2024/);
});

test("yesterday is right on the days on which clocks change", () => {
  const zone = "Europe/Berlin";
  for (const noon of ["2026-03-29T10:00:00Z", "2026-03-30T10:00:00Z", "2026-10-25T11:00:00Z", "2026-10-26T11:00:00Z"]) {
    const now = Date.parse(noon);
    assert.equal(dayLabel(now - 86_400_000, now, zone), "Yesterday", noon);
  }
});

test("messages of one author within minutes stand together; a day, a reply or a pause parts them", () => {
  const list = [
    message(1, "ann", "2026-03-09T23:50:00Z"),
    message(2, "ann", "2026-03-09T23:52:00Z"),
    message(3, "ben", "2026-03-09T23:53:00Z"),
    message(4, "ben", "2026-03-09T23:54:00Z", { reply_to_id: "m1" }),
    message(5, "ben", "2026-03-10T00:01:00Z"),
    message(6, "ben", "2026-03-10T00:09:00Z"),
  ];
  assert.deepEqual(shape(list), ["day:2026-03-09", "m1", "m2+", "m3", "m4", "day:2026-03-10", "m5", "m6"]);
});

test("the new line stands before the first unread message of somebody else", () => {
  const list = [message(1, "ben", "2026-03-09T10:00:00Z"), message(2, "ann", "2026-03-09T10:01:00Z"), message(3, "ben", "2026-03-09T10:02:00Z")];
  assert.deepEqual(shape(list, { newAfterSeq: 1, myId: "ann" }), ["day:2026-03-09", "m1", "m2", "new", "m3"]);
  assert.deepEqual(shape(list, { newAfterSeq: 3, myId: "ann" }), ["day:2026-03-09", "m1", "m2", "m3"]);
  assert.deepEqual(shape(list, { newAfterSeq: null, myId: "ann" }), ["day:2026-03-09", "m1", "m2", "m3"]);
});

test("what is on its way stands last, under its own day", () => {
  const pending = [{ clientId: "x", createdAt: "2026-03-10T10:00:00Z", replyTo: null }];
  assert.deepEqual(shape([message(1, "ann", "2026-03-09T10:00:00Z")], { pending, myId: "ann" }), [
    "day:2026-03-09",
    "m1",
    "day:2026-03-10",
    "pending:x",
  ]);
});
