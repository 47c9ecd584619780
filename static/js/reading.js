// When a conversation counts as read: only while its end is in view in a visible, focused page. Then the read position
// moves to the last loaded message, a moment later and once for many messages.

const SETTLE_MS = 250;
/** Without a live socket the request that takes its place is made less often. */
const SETTLE_ALONE_MS = 5_000;

export class Reading {
  #workspace;
  #room;
  #timeline;
  #bus;
  #api;
  #timer = 0;
  #sentSeq = new Map();
  #marking = new Set();
  #held = null;

  constructor({ workspace, room, timeline, bus, api }) {
    this.#workspace = workspace;
    this.#room = room;
    this.#timeline = timeline;
    this.#bus = bus;
    this.#api = api;
    const look = () => this.look();
    for (const type of ["focus", "blur", "pageshow"]) window.addEventListener(type, look);
    document.addEventListener("visibilitychange", look);
    for (const type of ["drawn", "scrolled"]) timeline.addEventListener(type, look);
    bus.addEventListener("state", look);
    workspace.addEventListener("unread", look);
    room.addEventListener("opening", () => {
      this.#held = null;
      this.#cancel();
      look();
    });
  }

  get attentive() {
    return document.visibilityState === "visible" && document.hasFocus();
  }

  /** Keeps the open conversation unread although its end is in view, until it is opened again or written in. */
  hold() {
    this.#held = this.#room.id;
    this.#cancel();
    this.look();
  }

  release() {
    this.#held = null;
    this.look();
  }

  look() {
    const { id, window: loaded, conversation } = this.#room;
    const there = Boolean(
      loaded && conversation?.joined && this.attentive && this.#held !== id && this.#timeline.following && this.#timeline.atEnd,
    );
    this.#workspace.setReading(there && this.#bus.live ? id : null);
    if (!there) this.#cancel();
    else if (!this.#timer && navigator.onLine && this.#behind()) {
      this.#timer = setTimeout(() => this.#move(), this.#bus.live ? SETTLE_MS : SETTLE_ALONE_MS);
    }
  }

  #behind() {
    const { id, window: loaded, conversation } = this.#room;
    const seq = loaded.last?.seq ?? 0;
    const known = Math.max(this.#sentSeq.get(id) ?? 0, conversation.last_read_seq ?? 0);
    return seq > known || this.#whole(id);
  }

  /** Activities and a marker end only with everything. */
  #whole(id) {
    const entry = this.#workspace.unread.counts.get(id);
    return Boolean(entry && (entry.manual || entry.activities > 0)) && !this.#marking.has(id);
  }

  #cancel() {
    clearTimeout(this.#timer);
    this.#timer = 0;
  }

  async #move() {
    this.#timer = 0;
    const { id, window: loaded } = this.#room;
    const last = loaded?.last;
    if (!this.#behind()) return;
    const before = this.#sentSeq.get(id);
    if (last) this.#sentSeq.set(id, last.seq);
    try {
      if (this.#whole(id) || !last) {
        this.#marking.add(id);
        await this.#api.put(`/conversations/${id}/read`);
      } else if (!this.#bus.send({ type: "read", conversation_id: id, message_id: last.id })) {
        await this.#api.put(`/conversations/${id}/read`, { message_id: last.id });
      }
    } catch {
      if (before === undefined) this.#sentSeq.delete(id);
      else this.#sentSeq.set(id, before);
    } finally {
      this.#marking.delete(id);
    }
  }
}
