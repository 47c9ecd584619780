// Frames of the socket, each to whom it concerns; and what to read again after frames may have been missed.

import { retryDelayMs } from "./bus/backoff.js";

/** How many conversations unknown to the page are read at once. */
const MAX_UNKNOWN = 20;

export class Live extends EventTarget {
  #bus;
  #api;
  #workspace;
  #directory;
  #room;
  #beside;
  #timeline;
  #outbox;
  #panel;
  #first = true;
  #catching = false;
  #again = false;
  #owed = { conversations: false };
  #tries = 0;
  #retry = 0;
  #fetching = new Set();
  #gone = new Set();

  /** Says `behind` when `this.behind` changes: something was missed and is not read again yet. */
  constructor({ bus, api, workspace, directory, room, beside, timeline, outbox, panel }) {
    super();
    this.behind = false;
    this.#bus = bus;
    this.#api = api;
    this.#workspace = workspace;
    this.#directory = directory;
    this.#room = room;
    this.#beside = beside;
    this.#timeline = timeline;
    this.#outbox = outbox;
    this.#panel = panel;
    workspace.addEventListener("unread", () => this.#knowUnread());
    bus.addEventListener("frame", (event) => this.#take(event.detail));
    bus.addEventListener("gap", () => {
      workspace.snapshotIsComing();
      this.catchUp({ conversations: !this.#first });
      this.#first = false;
    });
  }

  /** Reads again what frames would have told: the open window, and the list of conversations; until it worked. */
  async catchUp({ conversations = true } = {}) {
    clearTimeout(this.#retry);
    this.#owed = { conversations: this.#owed.conversations || conversations };
    if (this.#catching) {
      this.#again = true;
      return;
    }
    this.#catching = true;
    this.#setBehind(true);
    const { conversations: list } = this.#owed;
    const done = await Promise.allSettled([this.#room.catchUp(this.#looksAt()), this.#beside.catchUp(null), list ? this.#list() : null]);
    this.#catching = false;
    if (done.every(({ status }) => status === "fulfilled")) {
      this.#owed = { conversations: false };
      this.#tries = 0;
      if (!this.#again) return this.#setBehind(false);
    }
    this.#again = false;
    if (!this.#bus.live) return;
    this.#retry = setTimeout(() => this.catchUp({ conversations: false }), retryDelayMs(this.#tries));
    this.#tries += 1;
  }

  #setBehind(behind) {
    if (this.behind === behind) return;
    this.behind = behind;
    this.dispatchEvent(new Event("behind"));
  }

  #looksAt() {
    return this.#timeline.following ? null : this.#timeline.topId;
  }

  async #list() {
    const answer = await this.#api.get(`/workspaces/${this.#workspace.id}/bootstrap`);
    this.#workspace.replaceConversations(answer.conversations, this.#room.id, this.#beside.id);
    if (this.#panel.open) this.#panel.load();
  }

  get #rooms() {
    return [this.#room, this.#beside];
  }

  #take({ type, ...frame }) {
    switch (type) {
      case "unread.snapshot":
        return this.#workspace.takeSnapshot(frame);
      case "unread.delta":
        if (this.#workspace.takeDelta(frame)) this.#bus.send({ type: "unread.resync" });
        return undefined;
      case "message.created":
        if (frame.created_at) this.#workspace.touch(frame.conversation_id, frame.created_at);
        return this.#message(frame);
      case "message.updated":
        return this.#message(frame);
      case "message.deleted":
        return this.#rooms.forEach((room) => room.remove(frame.id));
      case "reaction.updated":
        return this.#rooms.forEach((room) => room.patch(frame.message_id, { reactions: frame.reactions }));
      case "conversation.updated":
        return this.#conversation(frame);
      case "member.updated":
        return this.#directory.put([frame.member]);
      case "read.updated":
        return this.#read(frame);
      case "resync":
        return this.catchUp();
      default:
        return undefined;
    }
  }

  async #message(frame) {
    const room = this.#rooms.find(({ id }) => id === frame.conversation_id);
    if (!room) {
      this.#outbox.settle(frame.client_message_id);
      return;
    }
    let message = frame;
    if (frame.fetch) {
      try {
        message = await this.#api.get(`/messages/${frame.id}`);
      } catch (error) {
        if (error.status === 404) room.remove(frame.id);
        return;
      }
    }
    room.put(message);
    if (message.author_id === this.#directory.me.id) this.#outbox.settle(message.client_message_id);
  }

  /** The frame carries what everybody sees; whose own part changed reads it. */
  #conversation({ id, conversation, members_changed: changed = [] }) {
    if (!conversation) return this.#lost(id);
    if (changed.includes(this.#directory.me.id)) {
      this.#gone.delete(id);
      return this.#fetch(id);
    }
    if (!this.#workspace.conversation(id)) return undefined;
    this.#workspace.put(conversation);
    if (this.#panel.open && this.#room.id === id && changed.length) this.#panel.load();
    return undefined;
  }

  /** Unread of a conversation that the page has not heard of: somebody just wrote to the reader directly. */
  #knowUnread() {
    const unknown = [...this.#workspace.unread.counts.keys()].filter((id) => !this.#workspace.conversation(id));
    for (const id of unknown.slice(0, MAX_UNKNOWN)) this.#fetch(id);
  }

  async #fetch(id) {
    if (this.#fetching.has(id) || this.#gone.has(id)) return;
    this.#fetching.add(id);
    try {
      this.#workspace.put(await this.#api.get(`/conversations/${id}`));
    } catch (error) {
      if (error.status === 404) {
        this.#gone.add(id);
        this.#lost(id);
      }
    } finally {
      this.#fetching.delete(id);
    }
    if (this.#panel.open && this.#room.id === id) this.#panel.load();
  }

  /** Access is gone: that conversation closes, nothing else does. */
  #lost(id) {
    for (const room of this.#rooms) if (room.id && (room.id === id || room.conversation?.parent_id === id)) room.lose();
    this.#workspace.forget(id);
  }

  #read({ conversation_id, last_read_seq, last_activity_read_seq }) {
    const known = this.#workspace.conversation(conversation_id);
    if (known) this.#workspace.put({ id: conversation_id, last_read_seq, last_activity_read_seq: last_activity_read_seq ?? known.last_activity_read_seq });
  }
}
