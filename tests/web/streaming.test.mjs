// The pure parts of following an answer: events out of text, messages out of events, and which texts are Markdown.

import assert from "node:assert/strict";
import test from "node:test";

import { Feed } from "../../static/js/bus/feed.js";
import { SseParser } from "../../static/js/bus/sse.js";
import { Growing, MAX_FOLLOWED } from "../../static/js/store/growing.js";
import { Markup, isMarked, needsMarkup } from "../../static/js/store/markup.js";

const STREAM = 'retry: 2000\nid: 7\n\n: ping\n\nid: 8\ndata: {"a":1}\n\nevent: resync\r\ndata: {}\r\n\r\ndata: x\ndata: y\n\n';

test("events are the same whatever pieces the text comes in", () => {
  const expected = [
    { type: "message", data: '{"a":1}', id: "8" },
    { type: "resync", data: "{}", id: "8" },
    { type: "message", data: "x\ny", id: "8" },
  ];
  for (let size = 1; size <= STREAM.length; size += 1) {
    const parser = new SseParser();
    const found = [];
    for (let at = 0; at < STREAM.length; at += size) found.push(...parser.push(STREAM.slice(at, at + size)));
    assert.deepEqual(found, expected);
    assert.equal(parser.retryMs, 2000);
  }
});

test("an id counts once its event is complete", () => {
  const parser = new SseParser();
  parser.push("id: 1\n\nid: 2\ndata: half");
  assert.equal(parser.lastId, "1");
});

const model = (text) => ({ version: "1.1", biz: "chat", meta: {}, blocks: [{ id: "a", type: "text", content: text }] });
const start = (seq, text, status = "streaming") => ({ op: "start", seq, stream_id: "m", model: model(text), message: { id: "m", status, revision: seq } });
const more = (seq, text) => ({ op: "append", seq, stream_id: "m", mask: "block.content", block: { id: "a", content: text } });
const textOf = ({ message }) => message.content.blocks[0].content;

test("events are applied once, in order, and one that is missing waits for a start", () => {
  const growing = new Growing();
  assert.equal(growing.take(more(1, "x")), null);
  assert.equal(textOf(growing.take(start(1, "a"))), "a");
  assert.equal(textOf(growing.take(more(2, "b"))), "ab");
  assert.equal(growing.take(more(2, "b")), null);
  assert.equal(growing.take(more(1, "b")), null);
  assert.deepEqual(growing.take(more(4, "d")), { missing: "m" });
  assert.equal(growing.take(more(5, "e")), null);
  assert.equal(textOf(growing.take(start(5, "abcde"))), "abcde");
  const { message } = growing.take({ op: "end", seq: 6, stream_id: "m", status: "failed" });
  assert.deepEqual([message.status, message.revision, growing.size], ["failed", 6, 0]);
});

test("an end that repeats the last number still ends, and a complete message is not followed", () => {
  const growing = new Growing();
  growing.take(start(3, "a"));
  assert.equal(growing.take({ op: "end", seq: 3, stream_id: "m", status: "expired" }).message.status, "expired");
  growing.take(start(3, "a", "completed"));
  assert.equal(growing.size, 0);
  assert.equal(growing.take({ op: "end", seq: 3, stream_id: "m", status: "completed" }), null);
});

test("what arrives while a large message is read goes on from what was read", () => {
  const growing = new Growing();
  assert.deepEqual(growing.take({ op: "start", seq: 5, stream_id: "m", fetch: true, message: { id: "m" } }), { fetch: "m" });
  for (const seq of [6, 7, 8]) assert.equal(growing.take(more(seq, String(seq))), null);
  const read = { id: "m", status: "streaming", revision: 6, content: model("..6") };
  assert.equal(textOf(growing.read("m", read)), "..678");
  assert.equal(textOf(growing.take(more(9, "9"))), "..6789");
});

test("what cannot be applied is asked for again, and the number of streams is bounded", () => {
  const growing = new Growing();
  growing.take(start(1, "a"));
  const bad = { op: "append", seq: 2, stream_id: "m", mask: "block.content", block: { id: "nobody", content: "x" } };
  assert.deepEqual(growing.take(bad), { missing: "m" });
  for (let n = 0; n < MAX_FOLLOWED + 5; n += 1) {
    growing.take({ ...start(1, "a"), stream_id: `m${n}`, message: { id: `m${n}`, status: "streaming" } });
  }
  assert.equal(growing.size, MAX_FOLLOWED);
});

test("texts with marks are asked for, once for all that wait", async () => {
  for (const text of ["**a**", "# a", "- a", "1. a", "`a`", "a\n---", "    code", "a_b_c", "<b>", "[a](b)", "&lt;"]) {
    assert.equal(isMarked(text), true, text);
  }
  for (const text of ["hello", "one\ntwo", "a - b", "well-known", "3.5 is more", "see https://a.example/x", "@ann hi!"]) {
    assert.equal(isMarked(text), false, text);
  }
  const message = (id, revision, status = "completed") => ({ id, conversation_id: "c", revision, status, content: model("**a**") });
  assert.equal(needsMarkup(message("m", 1, "streaming")), false);
  const asked = [];
  const markup = new Markup(async (conversation, ids) => {
    asked.push([conversation, ids]);
    return ids.filter((id) => id !== "gone").map((id) => ({ id, revision: 1, blocks: [{ id: "a", html: `<b>${id}</b>` }] }));
  });
  const changed = new Promise((done) => markup.addEventListener("change", done));
  for (const id of ["m", "n", "gone", "m"]) assert.equal(markup.of(message(id, 1)), null);
  await changed;
  assert.equal(markup.of(message("m", 1)).get("a"), "<b>m</b>");
  assert.equal(markup.of(message("gone", 1)), null);
  assert.equal(markup.of(message("m", 0)), null, "older than what is known");
  assert.deepEqual(asked, [["c", ["m", "n", "gone"]]]);
});

const later = () => new Promise((done) => setImmediate(done));
const body = (...pieces) =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });

test("a feed comes back after the last event it was given", async () => {
  const asked = [];
  const answers = [body("id: 5\n\nid: 6\nda", "ta: one\n\nid: 7\ndata: half"), body("data: two\n\n")];
  const seen = [];
  const ended = new Promise((done) => {
    const feed = new Feed("/stream", {
      random: () => 0,
      open: async (url, { headers }) => {
        asked.push(headers["Last-Event-ID"]);
        const next = answers.shift();
        if (next) return { ok: true, body: next };
        done();
        return { ok: false, status: 404 };
      },
    });
    feed.addEventListener("event", ({ detail }) => seen.push(detail.data));
    feed.start();
  });
  await ended;
  await later();
  assert.deepEqual(seen, ["one", "two"]);
  assert.deepEqual(asked, [undefined, "6", "6"]);
});

test("settled blocks of an open message are asked for, each once for what it says", async () => {
  const asked = [];
  let answer = null;
  const markup = new Markup((conversation, ids, blocks) => {
    asked.push(blocks);
    return new Promise((done) => (answer = done));
  });
  const block = (id, content = "**a**") => ({ id, type: "text", content });
  const open = (revision, ...blocks) => ({ id: "m", conversation_id: "c", revision, status: "streaming", content: { blocks } });
  const [a, b, c] = [block("a"), block("b"), block("c")];
  assert.equal(markup.settled(open(1, a)), null, "it still grows");
  assert.equal(markup.settled(open(2, a, b)).size, 0);
  await later();
  markup.settled(open(3, a, b, c));
  await later();
  assert.deepEqual(asked, [["a"]], "one question at a time");
  answer([{ id: "m", revision: 4, blocks: [{ id: "a", html: "<b>a</b>" }] }]);
  await later();
  assert.equal(markup.settled(open(3, a, b, c)).size, 0, "not before the page is as far as the answer");
  assert.equal(markup.settled(open(4, a, b, c)).get("a"), "<b>a</b>");
  await later();
  assert.deepEqual(asked, [["a"], ["b"]]);
  answer(Promise.reject(new Error("away")));
  await later();
  const shown = markup.settled(open(5, a, b, c));
  assert.deepEqual([...shown], [["a", "<b>a</b>"]], "what cannot be had stays as it was written");
  assert.equal(markup.settled(open(5, a, b, c)), shown);
  assert.deepEqual([...markup.settled({ ...open(6, a, b, c), status: "completed" })], [["a", "<b>a</b>"]], "until the end is known");
  assert.equal(markup.settled(open(7, block("a", "**other**"), b, c)).size, 0);
  await later();
  assert.deepEqual(asked, [["a"], ["b"], ["a"]]);
});
