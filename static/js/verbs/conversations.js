// What people do with conversations.

import { confirmDialog } from "../dialogs/dialog.js";
import { isProcessConversation, isUserConversation, spokenName } from "../store/names.js";

const MOST_PRESENT = 200;

/** What the reader may do in a conversation: { manage, post }. */
export function mayIn(conversation, workspace) {
  const { me } = workspace;
  const parent = conversation.parent_id ? workspace.conversation(conversation.parent_id) : null;
  const owns = parent?.created_by === me.id || me.actor.kind !== "user";
  return {
    manage: me.role === "admin" || conversation.created_by === me.id,
    post:
      conversation.type === "task" ||
      conversation.joined ||
      Boolean(conversation.type === "thread" && parent?.joined) ||
      (isProcessConversation(conversation) && owns),
  };
}

export class ConversationVerbs {
  #app;

  /** `app` gives { api, workspace, directory, room, composer, reading, navigation, dialogs, panel, saying }. */
  constructor(app) {
    this.#app = app;
  }

  may(conversation) {
    return mayIn(conversation, this.#app.workspace);
  }

  rename(conversation) {
    return this.#app.dialogs.rename(conversation);
  }

  archive(conversation) {
    return this.#app.dialogs.archive(conversation);
  }

  restore(conversation) {
    return this.#app.saying.attempt(this.#app.dialogs.restore(conversation));
  }

  leave(conversation) {
    const { dialogs, workspace, navigation } = this.#app;
    return dialogs.leave(conversation, () => {
      workspace.put({ id: conversation.id, joined: false });
      navigation.go(navigation.home());
    });
  }

  async join(conversation) {
    const { api, workspace, directory, composer, saying } = this.#app;
    const joined = await saying.attempt(
      api.post(`/conversations/${conversation.id}/members`).then(() => api.get(`/conversations/${conversation.id}`)),
    );
    if (!joined) return;
    workspace.put(joined);
    composer.open(conversation.id, `Message ${spokenName(joined, directory)}`, { directed: isUserConversation(joined) });
    composer.focus();
  }

  /** `present`: ids of those who are in it, where they are known. */
  async add(conversation, present = null) {
    const { api, dialogs, saying } = this.#app;
    const known = present ?? (await saying.attempt(api.get(`/conversations/${conversation.id}/members`, { limit: MOST_PRESENT })))?.items.map((member) => member.id);
    return known ? dialogs.add(conversation, known) : null;
  }

  remove(conversation, member) {
    const { api, directory, panel } = this.#app;
    return confirmDialog({
      title: `Remove ${member.display_name}?`,
      text: `${member.display_name} leaves ${spokenName(conversation, directory)} and no longer hears of it.`,
      submit: "Remove",
      run: async () => {
        await api.delete(`/conversations/${conversation.id}/members/${member.id}`);
        panel.load();
      },
    });
  }

  direct(member) {
    return this.#app.saying.attempt(this.#app.dialogs.direct([member.id]));
  }

  async setLevel(conversation, level) {
    const { api, workspace, saying } = this.#app;
    const done = await saying.attempt(api.put(`/conversations/${conversation.id}/notifications`, { level }).then(() => true));
    if (done) workspace.put({ id: conversation.id, level });
  }

  markUnread(conversation) {
    return this.keepUnread(conversation, {});
  }

  /** Marks it unread, and keeps it so although its end is in view; true where that was done. */
  async keepUnread(conversation, body) {
    const { api, reading, saying } = this.#app;
    reading.hold();
    const done = await saying.attempt(api.put(`/conversations/${conversation.id}/unread`, body).then(() => true));
    if (done) saying.say("Marked unread. It stays so until you open it again.");
    else reading.release();
    return Boolean(done);
  }

  async markRead(conversation) {
    this.#app.reading.release();
    await this.#app.saying.attempt(this.#app.api.put(`/conversations/${conversation.id}/read`));
  }

  copyLink(conversation) {
    this.#app.saying.copy(location.origin + this.#app.navigation.to(conversation.id), "Link copied.");
  }
}
