// The page's one WebSocket. It connects, notices silence, reconnects with backoff, and says what state it is in.
//
// States: connecting → live; waiting (a retry is due at `retryAt`); stopped (`reason`: signed-out or no-access), which
// only a new page leaves. A `gap` is announced each time the socket becomes live: frames may have been missed before.

import { attemptAfter, retryDelayMs } from "./backoff.js";

const SIGNED_OUT = 4001;
const NO_ACCESS = 4004;
const SILENT_HEARTBEATS = 2.5;
const DEFAULT_HEARTBEAT_S = 25;
const PROBE_MS = 5_000;
const CONNECT_MS = 15_000;

export class Bus extends EventTarget {
  #url;
  #open;
  #random;
  #socket = null;
  #attempt = 0;
  #liveSince = 0;
  #heartbeatMs = DEFAULT_HEARTBEAT_S * 1_000;
  #retryTimer = 0;
  #silenceTimer = 0;

  /** `open` makes a WebSocket of an address; tests give their own. */
  constructor(url, { open = (address) => new WebSocket(address), random = Math.random } = {}) {
    super();
    this.#url = url;
    this.#open = open;
    this.#random = random;
    this.state = "connecting";
    this.reason = "";
    this.retryAt = 0;
  }

  get live() {
    return this.state === "live";
  }

  start() {
    if (!this.#socket && this.state !== "stopped") this.#connect();
  }

  /** Connects now instead of waiting; on a live socket asks for a sign of life. */
  wake() {
    if (this.state === "waiting") this.#connect();
    else if (this.state === "live" && this.send({ type: "ping" })) this.#expectWithin(PROBE_MS);
  }

  /** True if the frame was handed to a live socket. */
  send(frame) {
    if (!this.live || this.#socket.readyState !== 1) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  stop(reason) {
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#silenceTimer);
    this.#abandon();
    this.reason = reason;
    this.#enter("stopped");
  }

  #connect() {
    clearTimeout(this.#retryTimer);
    this.#enter("connecting");
    const socket = this.#open(this.#url);
    this.#socket = socket;
    this.#expectWithin(CONNECT_MS);
    socket.onmessage = (event) => this.#receive(event.data);
    socket.onclose = (event) => this.#closed(event.code);
  }

  #receive(data) {
    let frame;
    try {
      frame = JSON.parse(data);
    } catch {
      return;
    }
    this.#expectWithin(this.#heartbeatMs * SILENT_HEARTBEATS);
    if (frame.type === "heartbeat") return;
    if (frame.type === "hello") {
      if (frame.heartbeat_s > 0) this.#heartbeatMs = frame.heartbeat_s * 1_000;
      this.#liveSince = Date.now();
      this.#expectWithin(this.#heartbeatMs * SILENT_HEARTBEATS);
      this.#enter("live");
      this.dispatchEvent(new Event("gap"));
      return;
    }
    this.dispatchEvent(new CustomEvent("frame", { detail: frame }));
  }

  #closed(code) {
    clearTimeout(this.#silenceTimer);
    this.#socket = null;
    if (code === SIGNED_OUT) return this.stop("signed-out");
    if (code === NO_ACCESS) return this.stop("no-access");
    const attempt = attemptAfter(this.#attempt, this.#liveSince ? Date.now() - this.#liveSince : 0);
    this.#attempt = attempt + 1;
    this.#liveSince = 0;
    const delay = retryDelayMs(attempt, this.#random);
    this.retryAt = Date.now() + delay;
    this.#enter("waiting");
    this.#retryTimer = setTimeout(() => this.#connect(), delay);
  }

  /** Gives the connection up unless something arrives within `ms`. */
  #expectWithin(ms) {
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = setTimeout(() => {
      this.#abandon();
      this.#closed(1006);
    }, ms);
  }

  #abandon() {
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    socket.onmessage = socket.onclose = null;
    socket.close();
  }

  #enter(state) {
    this.state = state;
    this.dispatchEvent(new Event("state"));
  }
}
