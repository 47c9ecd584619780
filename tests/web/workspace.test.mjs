import assert from "node:assert/strict";
import { test } from "node:test";

import { Workspace } from "../../static/js/store/workspace.js";

const conversation = (id, more = {}) => ({ id, type: "channel", name: id, joined: true, archived: false, ...more });
const ready = (messages, more = {}) => ({ state: "ready", messages, activities: 0, manual: false, mentions: 0, ...more });
const made = (more = {}) =>
  new Workspace({
    workspace: { id: "w", slug: "w", name: "W" },
    me: { id: "me" },
    workspaces: [],
    conversations: [conversation("a"), conversation("b")],
    unread: { epoch: 1, version: 4, has_unread: false, counts: {} },
    ...more,
  });

test("a broken row of deltas asks for one snapshot, not for many", () => {
  const workspace = made();
  const late = (since) => ({ epoch: 1, since, version: since + 1, has_unread: true, counts: {} });
  assert.deepEqual([workspace.takeDelta(late(7)), workspace.takeDelta(late(8))], [true, false]);
  workspace.takeSnapshot({ epoch: 1, version: 9, has_unread: true, counts: { a: ready(2) } });
  assert.equal(workspace.count("a"), 2);
  assert.equal(workspace.takeDelta(late(12)), true, "and again after that one");
});

test("after a reconnect the snapshot comes by itself", () => {
  const workspace = made();
  workspace.snapshotIsComing();
  assert.equal(workspace.takeDelta({ epoch: 2, since: 0, version: 1, has_unread: false, counts: {} }), false);
});

test("what is being read shows nothing, unless it is marked by hand", () => {
  const workspace = made({ unread: { epoch: 1, version: 1, has_unread: true, counts: { a: ready(1), b: ready(0, { manual: true }) } } });
  workspace.setReading("a");
  assert.equal(workspace.lights("a"), false);
  workspace.setReading("b");
  assert.equal(workspace.lights("b"), true);
  assert.equal(workspace.lights("a"), true);
});

test("a fresh list replaces the old one but keeps what is open", () => {
  const workspace = made();
  workspace.replaceConversations([conversation("c")], "b");
  assert.deepEqual(workspace.joined().map(({ id }) => id), ["c", "b"]);
});

test("archived and left conversations are not listed", () => {
  const workspace = made();
  workspace.put({ id: "a", archived: true });
  workspace.put({ id: "b", joined: false });
  assert.deepEqual(workspace.joined(), []);
});

test("more conversations are read page by page, until there are none", async () => {
  const workspace = made({ next: "0" });
  const asked = [];
  const pages = [{ items: [conversation("b"), conversation("c")], next: "c" }, { items: [conversation("d")], next: null }];
  const api = { get: async (path, query) => (asked.push(query.cursor), pages.shift()) };
  await workspace.loadMore(api);
  await workspace.loadMore(api);
  assert.deepEqual(asked, ["0", "c"]);
  assert.equal(workspace.next, null);
  assert.deepEqual(workspace.joined().map(({ id }) => id), ["a", "b", "c", "d"]);
});
