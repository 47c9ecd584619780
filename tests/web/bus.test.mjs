import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { BASE_MS, CAP_MS, STABLE_MS, attemptAfter, retryDelayMs } from "../../static/js/bus/backoff.js";
import { Bus } from "../../static/js/bus/bus.js";

test("the first retry is at once, later ones are spread over a ceiling that doubles up to the cap", () => {
  assert.equal(retryDelayMs(0, () => 1), 0);
  assert.equal(retryDelayMs(1, () => 1), BASE_MS);
  assert.equal(retryDelayMs(3, () => 1), 4 * BASE_MS);
  assert.equal(retryDelayMs(3, () => 0), 0);
  assert.equal(retryDelayMs(500, () => 1), CAP_MS);
});

test("only a connection that was stable starts the count again", () => {
  assert.equal(attemptAfter(4, STABLE_MS), 0);
  assert.equal(attemptAfter(4, STABLE_MS - 1), 4);
});

class FakeSocket {
  constructor() {
    this.readyState = 1;
    this.sent = [];
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close() {
    this.readyState = 3;
  }

  receive(frame) {
    this.onmessage({ data: JSON.stringify(frame) });
  }

  drop(code = 1006) {
    this.readyState = 3;
    this.onclose({ code });
  }
}

function staged(t) {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  t.after(() => mock.timers.reset());
  const sockets = [];
  const bus = new Bus("ws://x/", {
    open: () => {
      sockets.push(new FakeSocket());
      return sockets.at(-1);
    },
    random: () => 1,
  });
  const gaps = [];
  bus.addEventListener("gap", () => gaps.push(sockets.length));
  bus.start();
  return { bus, sockets, gaps, last: () => sockets.at(-1) };
}

test("it is live after hello, and says that something may have been missed", (t) => {
  const { bus, gaps, last } = staged(t);
  assert.equal(bus.state, "connecting");
  assert.equal(bus.send({ type: "ping" }), false);
  last().receive({ type: "hello", heartbeat_s: 20 });
  assert.equal(bus.state, "live");
  assert.deepEqual(gaps, [1]);
  assert.equal(bus.send({ type: "ping" }), true);
  assert.deepEqual(last().sent, [{ type: "ping" }]);
});

test("it retries at once, then with growing delays, and starts anew after a stable while", (t) => {
  const { bus, sockets, last } = staged(t);
  last().receive({ type: "hello", heartbeat_s: 60 });
  last().drop();
  mock.timers.tick(0);
  assert.equal(sockets.length, 2);
  last().drop();
  assert.equal(bus.state, "waiting");
  mock.timers.tick(BASE_MS - 1);
  assert.equal(sockets.length, 2);
  mock.timers.tick(1);
  assert.equal(sockets.length, 3);
  last().drop();
  mock.timers.tick(2 * BASE_MS);
  assert.equal(sockets.length, 4);
  last().receive({ type: "hello", heartbeat_s: 60 });
  mock.timers.tick(STABLE_MS);
  last().drop();
  mock.timers.tick(0);
  assert.equal(sockets.length, 5);
});

test("waking connects now, and checks a live socket that may be dead", (t) => {
  const { bus, sockets, last } = staged(t);
  last().drop();
  mock.timers.tick(0);
  last().drop();
  bus.wake();
  assert.equal(sockets.length, 3);
  last().receive({ type: "hello", heartbeat_s: 60 });
  bus.wake();
  assert.deepEqual(last().sent, [{ type: "ping" }]);
  mock.timers.tick(5_000);
  assert.equal(bus.state, "waiting", "no answer: the connection was dead");
});

test("silence for more than two heartbeats ends the connection", (t) => {
  const { bus, sockets, last } = staged(t);
  last().receive({ type: "hello", heartbeat_s: 10 });
  mock.timers.tick(24_000);
  last().receive({ type: "heartbeat", ts: "x" });
  mock.timers.tick(24_000);
  assert.equal(bus.state, "live");
  mock.timers.tick(1_000);
  assert.equal(sockets[0].readyState, 3);
  assert.equal(sockets.length, 2, "and it connects again");
});

for (const [code, reason] of [
  [4001, "signed-out"],
  [4004, "no-access"],
]) {
  test(`close code ${code} stops for good: ${reason}`, (t) => {
    const { bus, sockets, last } = staged(t);
    last().receive({ type: "hello", heartbeat_s: 10 });
    last().drop(code);
    assert.deepEqual([bus.state, bus.reason], ["stopped", reason]);
    bus.wake();
    mock.timers.tick(120_000);
    assert.equal(sockets.length, 1);
  });
}

test("a frame that is not JSON is left out", (t) => {
  const { bus, last } = staged(t);
  const frames = [];
  bus.addEventListener("frame", (event) => frames.push(event.detail.type));
  last().onmessage({ data: "{" });
  last().receive({ type: "message.created" });
  assert.deepEqual(frames, ["message.created"]);
});
