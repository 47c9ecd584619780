import assert from "node:assert/strict";
import { test } from "node:test";

import { pieces, safeUrl } from "../../static/js/view/text.js";

const ann = { id: "1", username: "ann", display_name: "Ann" };
const annie = { id: "2", username: "annie", display_name: "Annie" };
const wei = { id: "3", username: "伟", display_name: "王伟" };
const said = (text, ...mentioned) => pieces(text, mentioned).map((piece) => (piece.kind === "text" ? piece.text : { [piece.kind]: piece.text }));

test("only web and mail addresses are linked", () => {
  assert.equal(safeUrl("https://example.com/a"), "https://example.com/a");
  assert.equal(safeUrl("mailto:a@example.com"), "mailto:a@example.com");
  for (const address of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//example.com", "", "x"]) {
    assert.equal(safeUrl(address), null, address);
  }
  assert.deepEqual(said("javascript:alert(1)"), ["javascript:alert(1)"]);
});

test("the punctuation of a sentence is not part of its link", () => {
  assert.deepEqual(said("See https://example.com/a. (or https://example.com/b)"), [
    "See ",
    { link: "https://example.com/a" },
    ". (or ",
    { link: "https://example.com/b" },
    ")",
  ]);
  assert.deepEqual(said("https://example.com/a_(b)"), [{ link: "https://example.com/a_(b)" }]);
  assert.deepEqual(said("<https://example.com/?a=1&b=2>"), ["<", { link: "https://example.com/?a=1&b=2" }, ">"]);
});

test("markup stays text", () => {
  assert.deepEqual(said("<img src=x onerror=alert(1)>"), ["<img src=x onerror=alert(1)>"]);
});

test("the longest username wins, and a word is not a mention", () => {
  assert.deepEqual(said("@annie and @ann, not x@ann or @anne", ann, annie), [
    { mention: "@annie" },
    " and ",
    { mention: "@ann" },
    ", not x@ann or @anne",
  ]);
  assert.deepEqual(said("@ann", annie), ["@ann"], "who is not mentioned is not marked");
  assert.deepEqual(said("你好 @伟，看", wei), ["你好 ", { mention: "@伟" }, "，看"]);
});

test("text without anything in it is one piece", () => {
  assert.deepEqual(said("a\nb"), ["a\nb"]);
  assert.deepEqual(said(""), []);
});
