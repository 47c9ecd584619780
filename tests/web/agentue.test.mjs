// The browser's reducer against the golden files that the server plays too: `node --test tests/web/agentue.test.mjs`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  AgentUEError,
  MAX_BLOCKS,
  MAX_DEPTH,
  SEQ_MAX,
  parseEvent,
  parseModel,
  reduce,
} from "../../static/js/agentue.js";

const load = (name) => JSON.parse(readFileSync(new URL(`../data/${name}`, import.meta.url), "utf8"));
const EMPTY = { version: "1.1", biz: "chat", meta: {}, blocks: [] };

function deepFreeze(value) {
  if (value !== null && typeof value === "object" && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

function refusal(expected) {
  return (error) => {
    assert.ok(error instanceof AgentUEError, String(error.stack));
    if (expected !== undefined) assert.equal(error.code, expected);
    return true;
  };
}

for (const file of ["agentue.json", "agentue_more.json"]) {
  const golden = load(file);
  for (const { name, initial, events, expected } of golden.transitions) {
    test(`${file}: ${name}`, () => {
      let model = initial === null ? null : deepFreeze(parseModel(initial));
      for (const raw of events) model = deepFreeze(reduce(model, parseEvent(deepFreeze(raw))));
      assert.deepEqual(model, expected);
      parseModel(model);
    });
  }
  for (const { name, model, error } of golden.invalid_models) {
    test(`${file}: ${name}`, () => assert.throws(() => parseModel(model), refusal(error)));
  }
  for (const { name, initial, event, error } of golden.rejected_events) {
    test(`${file}: ${name}`, () => {
      const before = JSON.stringify(initial);
      assert.throws(() => reduce(parseModel(initial), parseEvent(event)), refusal(error));
      assert.equal(JSON.stringify(initial), before);
    });
  }
}

test("a million blocks are refused by their number", () => {
  const blocks = new Array(1_000_000).fill({ id: "a", type: "text" });
  assert.throws(() => parseModel({ ...EMPTY, blocks }), refusal("too_many_blocks"));
  const full = { ...EMPTY, blocks: Array.from({ length: MAX_BLOCKS }, (_, at) => ({ id: `b${at}`, type: "text" })) };
  const one = parseEvent({ op: "set", seq: 1, block: { id: "one more", type: "text" } });
  assert.throws(() => reduce(parseModel(full), one), refusal("too_many_blocks"));
});

test("deep nesting is refused before it exhausts anything", () => {
  const nested = (levels) => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  assert.ok(parseModel({ ...EMPTY, meta: { deep: nested(MAX_DEPTH - 2) } }));
  assert.throws(() => parseModel({ ...EMPTY, meta: { deep: nested(MAX_DEPTH - 1) } }), refusal("too_deep"));
  assert.throws(() => parseModel({ ...EMPTY, meta: { deep: nested(3000) } }), refusal("too_deep"));
});

test("what JSON cannot carry is refused", () => {
  for (const value of [NaN, Infinity]) {
    assert.throws(() => parseModel({ ...EMPTY, meta: { value } }), refusal("bad_number"));
    assert.throws(() => parseEvent({ op: "ping", seq: value }), refusal("bad_sequence"));
  }
  assert.throws(() => parseModel({ ...EMPTY, meta: { value: undefined } }), refusal("not_json"));
  assert.throws(() => parseEvent({ op: "ping", seq: SEQ_MAX + 1 }), refusal("bad_sequence"));
});

test("a member named __proto__ is data and pollutes nothing", () => {
  const event = JSON.parse('{"op":"set","seq":1,"mask":"meta.__proto__.x","meta":{"__proto__":{"x":1}}}');
  const model = reduce(EMPTY, parseEvent(event));
  assert.equal(JSON.stringify(model.meta), '{"__proto__":{"x":1}}');
  assert.equal({}.x, undefined);
});

// Random histories that the server has already played, handed over by tests/conversations/agentue/test_javascript.py.
test("the server's random histories end the same here", { skip: !process.env.AGENTUE_HISTORIES }, () => {
  const histories = JSON.parse(readFileSync(process.env.AGENTUE_HISTORIES, "utf8"));
  assert.ok(histories.length > 0);
  for (const { initial, steps } of histories) {
    let model = parseModel(initial);
    for (const { event, model: expected, error } of steps) {
      if (error) {
        assert.throws(() => reduce(model, parseEvent(event)), refusal(error), JSON.stringify(event));
      } else {
        model = reduce(model, parseEvent(event));
        assert.deepEqual(model, expected);
      }
    }
  }
});
