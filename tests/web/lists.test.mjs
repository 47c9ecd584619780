import assert from "node:assert/strict";
import { test } from "node:test";

import { matchRank } from "../../static/js/store/directory.js";
import { conversationName, sections } from "../../static/js/store/names.js";
import { hue, initials } from "../../static/js/view/avatar.js";
import { drawn, spoken } from "../../static/js/view/emoji.js";

const people = { a: "Ann", b: "Ben", c: "Cat", d: "Dan", e: "Eve", f: "Fay" };
const directory = { me: { id: "a", display_name: "Ann" }, get: (id) => ({ id, display_name: people[id] }) };
const dm = (...ids) => ({ type: "dm", name: "", members: ids.map((id) => ({ id, display_name: people[id] })) });
const channel = (id, name) => ({ id, type: "channel", name, visibility: "public" });

test("a direct conversation is called after the others in it", () => {
  assert.equal(conversationName(dm("a", "b"), directory), "Ben");
  assert.equal(conversationName(dm("a"), directory), "Ann (you)");
  assert.equal(conversationName(dm("a", "b", "c", "d", "e", "f"), directory), "Ben, Cat, Dan, Eve and 1 more");
});

test("channels stand by name, as people count; threads only while they show something", () => {
  const list = [channel("1", "team 10"), channel("2", "team 9"), channel("3", "Alpha"), { id: "4", type: "thread", name: "t" }];
  const shown = (lit) => sections(list, directory, { lights: (id) => id === lit, openId: null }).flatMap((section) => section.list.map((item) => item.id));
  assert.deepEqual(shown(null), ["3", "2", "1"]);
  assert.deepEqual(shown("4"), ["3", "2", "1", "4"]);
});

test("names match from their start before the middle", () => {
  assert.equal(matchRank("an", "Ann"), 0);
  assert.equal(matchRank("li", "Ann Li"), 1);
  assert.equal(matchRank("nn", "Ann"), 2);
  assert.equal(matchRank("x", "Ann"), 3);
  assert.equal(matchRank("(", "a(b"), 2, "signs are no patterns");
});

test("initials and colours are stable", () => {
  assert.equal(initials("Ann Lee"), "AL");
  assert.equal(initials("王伟"), "王");
  assert.equal(initials("  "), "?");
  assert.equal(hue("01a22e04-af08-7078-bfe2-d698f5f25d15"), 0x15 % 10);
});

test("named reactions are drawn as emoji where they are known", () => {
  assert.equal(drawn("+1"), "👍");
  assert.equal(drawn("our_logo"), ":our_logo:");
  assert.equal(drawn("🎉"), "🎉");
  assert.equal(spoken("our_logo"), "our logo");
});
