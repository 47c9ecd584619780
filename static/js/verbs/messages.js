// What people do with messages.

import { confirmDialog } from "../dialogs/dialog.js";
import { editable } from "../view/blocks.js";
import { speaker } from "../view/message.js";
import { agentsFor } from "./addressing.js";

export class MessageVerbs {
  #app;

  /** `app` gives { api, workspace, directory, room, outbox, timeline, composer, reading, navigation, saying, mayIn }. */
  constructor(app) {
    this.#app = app;
  }

  /** What the reader may do with a message. */
  may(message) {
    const { room, directory, workspace, mayIn } = this.#app;
    const conversation = room.conversation;
    const open = Boolean(conversation && !conversation.archived);
    const mine = message.author_id === directory.me.id;
    const ended = message.status !== "streaming";
    return {
      post: open && mayIn(conversation).post,
      edit: open && mine && ended && message.purpose === "output",
      delete: (mine || workspace.me.role === "admin") && ended,
      mark: Boolean(conversation?.joined),
    };
  }

  /** Shows it at once and sends it; false where too many wait. */
  send(text, replyTo, target = null) {
    const { outbox, room, reading, timeline } = this.#app;
    const clientId = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
    const added = outbox.add({ clientId, conversationId: room.id, text, replyTo, target, createdAt: new Date().toISOString() });
    if (!added) return false;
    room.clearLine();
    reading.release();
    timeline.toEnd();
    return true;
  }

  /** Sends an entry of the outbox; the stored message. */
  post(entry) {
    return this.#app.api.post(`/conversations/${entry.conversationId}/messages`, {
      text: entry.text,
      client_message_id: entry.clientId,
      ...(entry.replyTo ? { reply_to_id: entry.replyTo } : {}),
      ...(entry.target ? { target: entry.target } : {}),
    });
  }

  /** A search for those whom a message in this conversation can be directed at. */
  agents(conversationId) {
    return agentsFor(this.#app.api, conversationId);
  }

  /** Shows where the message is worked on, beside its conversation. */
  work(message) {
    const { navigation, room } = this.#app;
    navigation.go(navigation.to(room.id, { beside: message.process_conversation_id }));
  }

  /** One block, read anew: also where all of it is not on the screen. Given twice, an id may have commas in it. */
  async block(messageId, blockId) {
    const id = encodeURIComponent(blockId);
    const { items } = await this.#app.api.get(`/messages/${messageId}/blocks?ids=${id}&ids=${id}`);
    return items[0];
  }

  reply(message) {
    this.#app.composer.reply(message);
  }

  edit(message) {
    this.#app.composer.edit(message);
  }

  async saveEdit(message, text) {
    this.#app.room.put(await this.#app.api.put(`/messages/${message.id}`, { text }));
  }

  async react(message, emoji) {
    const { api, directory, saying } = this.#app;
    const mine = (message.reactions?.[emoji] ?? []).includes(directory.me.id);
    const path = `/messages/${message.id}/reactions/${encodeURIComponent(emoji)}`;
    await saying.attempt(mine ? api.delete(path) : api.put(path));
  }

  async remove(message) {
    const { api, room, composer } = this.#app;
    await confirmDialog({
      title: "Delete this message?",
      text: "It is removed for everybody and cannot be brought back.",
      submit: "Delete",
      run: async () => {
        await api.delete(`/messages/${message.id}`);
        room.remove(message.id);
      },
    });
    composer.focus();
  }

  async markUnread(message) {
    const { room } = this.#app;
    if (await this.#app.conversationVerbs.keepUnread(room.conversation, { message_id: message.id })) room.drawLine(message.seq - 1);
  }

  copy(text) {
    this.#app.saying.copy(text, "Text copied.");
  }

  copyLink(message) {
    const { navigation, room, saying } = this.#app;
    saying.copy(`${location.origin}${navigation.to(room.id)}#m-${message.id}`, "Link copied.");
  }

  lastOwn() {
    const { room } = this.#app;
    return room.window?.items.findLast((message) => this.may(message).edit && editable(message.content)) ?? null;
  }

  nameOf(id) {
    const message = this.#app.room.window?.get(id);
    return message ? speaker(message, this.#app.directory).display_name : "an earlier message";
  }

  /** Brings a message into view, loading what is around it. */
  async goTo(messageId) {
    const { room, timeline, saying } = this.#app;
    if (await saying.attempt(room.reach(messageId))) {
      timeline.reset({ following: false });
      timeline.drawNow();
      timeline.show(messageId);
    } else if (room.window) saying.say("That message no longer exists.");
  }
}
