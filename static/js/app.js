// Joins the parts of the page: stores, the socket, views, and what people do.

import { Api } from "./api.js";
import { Badge } from "./badge.js";
import { Bus } from "./bus/bus.js";
import { Composer } from "./composer/composer.js";
import { Outbox } from "./composer/outbox.js";
import { ConversationDialogs } from "./dialogs/conversations.js";
import { confirmDialog } from "./dialogs/dialog.js";
import { openKeys } from "./dialogs/keys.js";
import { openSwitcher } from "./dialogs/switcher.js";
import { Live } from "./live.js";
import { Navigation } from "./navigation.js";
import { Reading } from "./reading.js";
import { Room } from "./room.js";
import { listen } from "./shortcuts.js";
import { Directory } from "./store/directory.js";
import { outboxKeeper } from "./store/kept.js";
import { spokenName } from "./store/names.js";
import { Workspace } from "./store/workspace.js";
import { followTheme } from "./theme.js";
import { MessageActions } from "./view/actions.js";
import { Banner } from "./view/banner.js";
import { editable } from "./view/blocks.js";
import { fill, h, icon, useSprite } from "./view/dom.js";
import { Header } from "./view/header.js";
import { speaker } from "./view/message.js";
import { Notice } from "./view/notice.js";
import { Panel } from "./view/panel.js";
import { Sidebar, drawDots } from "./view/sidebar.js";
import { Timeline } from "./view/timeline.js";

const OTHERS_EVERY_MS = 60_000;
const one = (selector) => document.querySelector(selector);

export class App {
  constructor(boot) {
    useSprite(boot.urls.sprite);
    this.api = new Api(boot.csrf);
    this.workspace = new Workspace(boot);
    this.directory = new Directory(this.api, this.workspace.id, boot.me, boot.members, boot.members_next);
    this.room = new Room(this.api, this.workspace);
    this.notice = new Notice(one("#notice"));
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.bus = new Bus(`${scheme}//${location.host}/ws/workspaces/${this.workspace.id}/`);
    this.outbox = new Outbox((entry) => this.#post(entry), outboxKeeper(boot.me.id));
    this.navigation = new Navigation(this.workspace.slug, (place, how) => this.#show(place, how));
    this.dialogs = new ConversationDialogs({
      api: this.api,
      workspace: this.workspace,
      directory: this.directory,
      open: (conversation) => {
        this.workspace.put(conversation);
        this.navigation.go(this.navigation.to(conversation.id));
      },
    });
    this.#views(boot);
    this.#wire();
    this.#start(boot);
  }

  #views(boot) {
    const verbs = this.#conversationVerbs();
    const { api, workspace, directory, room, outbox } = this;
    new Banner(one("#connection"), this.bus);
    this.badge = new Badge(workspace, () => this.#roomName(), boot.urls.icons);
    this.sidebar = new Sidebar(one("#conversations"), workspace, directory, {
      openId: () => room.id,
      offered: (type) => type === "channel" || type === "dm",
      create: (type) => (type === "dm" ? this.dialogs.writeTo() : this.dialogs.create()),
      browse: () => this.dialogs.browse(),
    });
    this.panel = new Panel(one("#panel"), api, workspace, directory, room, {
      ...verbs,
      close: () => this.navigation.go(this.navigation.to(room.id)),
      add: (conversation, present) => this.dialogs.add(conversation, present),
      remove: (conversation, member) => this.#remove(conversation, member),
      direct: (member) => this.#try(this.dialogs.direct([member.id])),
    });
    this.header = new Header({ head: one("#head"), gate: one("#gate"), composer: one("#composer") }, workspace, directory, room, {
      ...verbs,
      panelOpen: () => this.panel.open,
      togglePanel: () => this.navigation.go(this.navigation.to(room.id, { panel: !this.panel.open })),
    });
    const log = one("#log");
    this.timeline = new Timeline({ scroller: one("#scroller"), log, above: one("#above"), below: one("#below"), jump: one("#jump") }, room, outbox, {
      directory,
      quoted: (id) => room.window?.get(id) ?? null,
      react: (message, emoji) => this.#react(message, emoji),
      goTo: (id) => this.#goTo(id),
    });
    new MessageActions(log, this.timeline, room, this.#messageVerbs());
    this.composer = new Composer(one("#composer"), {
      send: (text, replyTo) => this.#send(text, replyTo),
      edit: (message, text) => this.#saveEdit(message, text),
      lastOwn: () => this.#lastOwn(),
      nameOf: (id) => this.#nameOf(id),
      find: (query, limit) => directory.find(query, limit),
    });
    this.reading = new Reading({ workspace, room, timeline: this.timeline, bus: this.bus, api });
    this.live = new Live({ bus: this.bus, api, workspace, directory, room, timeline: this.timeline, outbox, panel: this.panel });
    followTheme(one("#theme"), icon);
  }

  #wire() {
    const { workspace, room, outbox, bus, timeline } = this;
    for (const type of ["unread", "workspaces"]) workspace.addEventListener(type, () => drawDots(one("#rail"), workspace));
    for (const type of ["unread", "conversations"]) workspace.addEventListener(type, () => this.badge.draw());
    room.addEventListener("changed", () => timeline.draw());
    for (const type of ["opened", "changed"]) room.addEventListener(type, () => this.#intro());
    room.addEventListener("arrived", (event) => this.#arrived(event.detail));
    room.addEventListener("trouble", (event) => this.notice.fail(event.detail));
    outbox.addEventListener("change", () => timeline.draw());
    outbox.addEventListener("stored", (event) => room.put(event.detail));
    this.directory.addEventListener("change", () => {
      timeline.reset({ following: timeline.following });
      timeline.draw();
    });
    this.api.addEventListener("signed-out", () => bus.stop("signed-out"));
    bus.addEventListener("state", () => {
      document.body.dataset.connection = bus.state;
      if (bus.state === "stopped") this.badge.clear();
    });
    for (const type of ["online", "pageshow", "focus"]) window.addEventListener(type, () => bus.wake());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && bus.wake());
    window.addEventListener("beforeunload", (event) => outbox.sending && event.preventDefault());
    one("#find").addEventListener("click", () => this.#switcher());
    one("#keys").addEventListener("click", openKeys);
    listen({ switcher: () => this.#switcher(), keys: openKeys, step: (by, unread) => this.#step(by, unread), escape: () => this.#escape() });
    if (workspace.workspaces.length > 1) this.#watchOthers();
  }

  #start(boot) {
    document.documentElement.classList.add("live");
    const place = this.navigation.place();
    if (place?.conversationId && boot.page && !place.messageId) this.#open(place, { page: boot.page });
    else if (place?.conversationId) this.#open(place, {});
    else this.#show(place ?? { conversationId: null }, "load");
    this.sidebar.draw();
    drawDots(one("#rail"), this.workspace);
    this.badge.draw();
    this.bus.start();
  }

  // --- where the page is

  #show(place, how) {
    if (!place) return location.reload();
    const { conversationId, panel, messageId } = place;
    if (conversationId && conversationId !== this.room.id) return this.#open(place, {});
    if (!conversationId) {
      this.room.close();
      this.panel.hide();
      this.timeline.reset();
      this.timeline.drawNow();
    } else if (messageId && how !== "load") this.#goTo(messageId);
    this.#panes(conversationId, panel);
    this.#intro();
    return undefined;
  }

  async #open({ conversationId, panel, messageId }, { page }) {
    this.panel.hide();
    this.timeline.reset();
    const opened = this.room.open(conversationId, { page, at: messageId });
    this.#panes(conversationId, panel);
    if (!page) this.timeline.drawNow();
    await opened;
    if (this.room.id !== conversationId) return;
    this.#panes(conversationId, panel);
    this.#intro();
    if (this.room.window) this.#settle(messageId);
  }

  #settle(messageId) {
    const { room, timeline, composer } = this;
    composer.open(room.id, `Message ${spokenName(room.conversation, this.directory)}`);
    timeline.drawNow();
    if (messageId) timeline.show(messageId);
    else if (room.newAfterSeq !== null) timeline.showLine();
    if (!messageId && matchMedia("(hover: hover)").matches) composer.focus();
    timeline.drawNow();
    this.#older();
  }

  #panes(conversationId, panel) {
    document.body.dataset.view = !conversationId ? "list" : panel ? "panel" : "room";
    if (conversationId && panel && this.room.conversation) this.panel.show(conversationId);
    else this.panel.hide();
    this.sidebar.draw();
    this.header.draw();
    this.badge.draw();
    const current = one('#conversations [aria-current="page"]');
    current?.scrollIntoView({ block: "nearest" });
  }

  /** What stands above the first message, or instead of messages. */
  #intro() {
    const { room } = this;
    const conversation = room.conversation;
    const box = one("#intro");
    one("#log").setAttribute("aria-label", conversation ? `Messages in ${spokenName(conversation, this.directory)}` : "Messages");
    if (!room.id) {
      const any = this.workspace.joined().length > 0;
      fill(
        box,
        h("h2", {}, any ? `Welcome back, ${this.directory.me.display_name}` : `Welcome to ${this.workspace.name}`),
        h("p", {}, any ? "Choose a conversation on the left, or jump to one by name." : "You are in no conversation yet. Join a channel, create one, or write to somebody."),
        h(
          "p",
          { class: "choices-row" },
          h("button", { type: "button", class: "button primary", on: { click: () => this.dialogs.browse() } }, "Browse channels"),
          h("button", { type: "button", class: "button", on: { click: () => this.dialogs.writeTo() } }, "Write to somebody"),
        ),
      );
    } else if (room.error) {
      const gone = room.error.status === 404;
      fill(
        box,
        h("h2", {}, gone ? "There is nothing here for you" : "This conversation could not be loaded"),
        h("p", {}, gone ? "It does not exist, or you are not in it." : room.error.message),
        gone
          ? h("a", { class: "button", href: this.navigation.home() }, "Back to the list")
          : h("button", { type: "button", class: "button", on: { click: () => this.#open(this.navigation.place(), {}) } }, "Try again"),
      );
    } else if (conversation && room.window && !room.window.hasBefore) {
      const name = spokenName(conversation, this.directory);
      const empty = room.window.items.length === 0;
      fill(box, h("h2", {}, name), h("p", {}, empty ? "Nothing has been said here yet. Write the first message." : `This is where ${name} begins.`));
    } else fill(box);
    box.hidden = !box.firstChild;
  }

  #roomName() {
    const conversation = this.room.conversation;
    return conversation ? spokenName(conversation, this.directory) : "";
  }

  // --- messages

  #post(entry) {
    return this.api.post(`/conversations/${entry.conversationId}/messages`, {
      text: entry.text,
      client_message_id: entry.clientId,
      ...(entry.replyTo ? { reply_to_id: entry.replyTo } : {}),
    });
  }

  #send(text, replyTo) {
    const { room, outbox, timeline } = this;
    const clientId = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
    const added = outbox.add({ clientId, conversationId: room.id, text, replyTo, createdAt: new Date().toISOString() });
    if (!added) return false;
    room.clearLine();
    this.reading.release();
    timeline.toEnd();
    return true;
  }

  async #saveEdit(message, text) {
    this.room.put(await this.api.put(`/messages/${message.id}`, { text }));
  }

  async #react(message, emoji) {
    const mine = (message.reactions?.[emoji] ?? []).includes(this.directory.me.id);
    const path = `/messages/${message.id}/reactions/${encodeURIComponent(emoji)}`;
    await this.#try(mine ? this.api.delete(path) : this.api.put(path));
  }

  #messageVerbs() {
    return {
      may: (message) => {
        const conversation = this.room.conversation;
        const open = Boolean(conversation && !conversation.archived);
        const mine = message.author_id === this.directory.me.id;
        const post = open && this.#may(conversation).post;
        return {
          post,
          edit: open && mine && message.status !== "streaming" && message.purpose === "output",
          delete: (mine || this.workspace.me.role === "admin") && message.status !== "streaming",
          mark: Boolean(conversation?.joined),
        };
      },
      react: (message, emoji) => this.#react(message, emoji),
      reply: (message) => this.composer.reply(message),
      edit: (message) => this.composer.edit(message),
      remove: (message) => this.#delete(message),
      markUnread: (message) => this.#markUnread(this.room.conversation, message),
      copy: (text) => this.#copy(text, "Text copied."),
      copyLink: (message) => this.#copy(`${location.origin}${this.navigation.to(this.room.id)}#m-${message.id}`, "Link copied."),
    };
  }

  async #delete(message) {
    await confirmDialog({
      title: "Delete this message?",
      text: "It is removed for everybody and cannot be brought back.",
      submit: "Delete",
      run: async () => {
        await this.api.delete(`/messages/${message.id}`);
        this.room.remove(message.id);
      },
    });
    this.composer.focus();
  }

  #lastOwn() {
    const me = this.directory.me.id;
    return this.room.window?.items.findLast((message) => message.author_id === me && message.status !== "streaming" && editable(message.content)) ?? null;
  }

  #nameOf(id) {
    const message = this.room.window?.get(id);
    return message ? speaker(message, this.directory).display_name : "an earlier message";
  }

  async #goTo(messageId) {
    if (await this.#try(this.room.reach(messageId))) {
      this.timeline.reset({ following: false });
      this.timeline.drawNow();
      this.timeline.show(messageId);
    } else if (this.room.window) this.notice.say("That message no longer exists.");
  }

  #arrived(messages) {
    const { room, timeline, reading } = this;
    const others = messages.filter((message) => message.author_id !== this.directory.me.id);
    if (!others.length) return;
    const there = timeline.following && reading.attentive;
    if (!there && room.newAfterSeq === null) room.drawLine(others[0].seq - 1);
    timeline.note(others.length);
  }

  /** Offers the way to the "new messages" line where it is not loaded. */
  #older() {
    const button = one("#to-line");
    button.hidden = !this.room.lineIsAbove;
    button.onclick = async () => {
      button.hidden = true;
      await this.room.reachLine();
      this.timeline.drawNow();
      this.timeline.showLine();
    };
  }

  // --- conversations

  #may(conversation) {
    const me = this.workspace.me;
    const parent = conversation.parent_id ? this.workspace.conversation(conversation.parent_id) : null;
    const manage = me.role === "admin" || conversation.created_by === me.id;
    return { manage, post: conversation.type === "task" || conversation.joined || Boolean(parent?.joined && conversation.type === "thread") };
  }

  #conversationVerbs() {
    const { api, workspace } = this;
    return {
      may: (conversation) => this.#may(conversation),
      rename: (conversation) => this.dialogs.rename(conversation),
      archive: (conversation) => this.dialogs.archive(conversation),
      restore: (conversation) => this.#try(this.dialogs.restore(conversation)),
      add: async (conversation) => {
        const present = await this.#try(api.get(`/conversations/${conversation.id}/members`, { limit: 200 }));
        if (present) await this.dialogs.add(conversation, present.items.map((member) => member.id));
      },
      leave: (conversation) =>
        this.dialogs.leave(conversation, () => {
          workspace.put({ id: conversation.id, joined: false });
          this.navigation.go(this.navigation.home());
        }),
      join: (conversation) =>
        this.#try(
          api.post(`/conversations/${conversation.id}/members`).then(async () => {
            workspace.put(await api.get(`/conversations/${conversation.id}`));
            this.composer.open(conversation.id, `Message ${spokenName(conversation, this.directory)}`);
            this.composer.focus();
          }),
        ),
      setLevel: (conversation, level) =>
        this.#try(
          api.put(`/conversations/${conversation.id}/notifications`, { level }).then(() => workspace.put({ id: conversation.id, level })),
        ),
      markUnread: (conversation) => this.#markUnread(conversation, null),
      markRead: async (conversation) => {
        this.reading.release();
        await this.#try(api.put(`/conversations/${conversation.id}/read`));
      },
      copyLink: (conversation) => this.#copy(location.origin + this.navigation.to(conversation.id), "Link copied."),
    };
  }

  async #markUnread(conversation, message) {
    this.reading.hold();
    const body = message ? { message_id: message.id } : {};
    const done = await this.#try(this.api.put(`/conversations/${conversation.id}/unread`, body).then(() => true));
    if (!done) return this.reading.release();
    if (message) this.room.drawLine(message.seq - 1);
    this.notice.say("Marked unread. It stays so until you open it again.");
    return undefined;
  }

  #remove(conversation, member) {
    return confirmDialog({
      title: `Remove ${member.display_name}?`,
      text: `${member.display_name} leaves ${spokenName(conversation, this.directory)} and no longer hears of it.`,
      submit: "Remove",
      run: async () => {
        await this.api.delete(`/conversations/${conversation.id}/members/${member.id}`);
        this.panel.load();
      },
    });
  }

  // --- keys and the rest

  #switcher() {
    openSwitcher({
      api: this.api,
      workspace: this.workspace,
      directory: this.directory,
      open: this.dialogs.open,
      direct: (ids) => this.#try(this.dialogs.direct(ids)),
    });
  }

  #step(by, unreadOnly) {
    const order = this.sidebar.order();
    const at = order.findIndex((conversation) => conversation.id === this.room.id);
    for (let tried = 1; tried <= order.length; tried += 1) {
      const start = at === -1 ? (by > 0 ? -1 : 0) : at;
      const next = order[(((start + by * tried) % order.length) + order.length) % order.length];
      if (!unreadOnly || this.workspace.lights(next.id)) return this.navigation.go(this.navigation.to(next.id));
    }
    return undefined;
  }

  #escape() {
    if (this.panel.open) return this.navigation.go(this.navigation.to(this.room.id));
    if (!this.room.window) return undefined;
    this.room.clearLine();
    this.timeline.toEnd();
    this.composer.focus();
    return undefined;
  }

  /** Dots of the other workspaces, for which no socket is open: asked for now and then, from the server's memory. */
  #watchOthers() {
    const ask = async () => {
      if (document.visibilityState !== "visible" || !this.bus.live) return;
      const answer = await this.api.get("/workspaces", { limit: 200 }).catch(() => null);
      if (answer) this.workspace.setWorkspaces(answer.items);
    };
    setInterval(ask, OTHERS_EVERY_MS);
    document.addEventListener("visibilitychange", ask);
  }

  async #copy(text, words) {
    try {
      await navigator.clipboard.writeText(text);
      this.notice.say(words);
    } catch {
      this.notice.say("The browser did not allow copying.", "failed");
    }
  }

  /** Says what failed, and gives undefined then. */
  async #try(work) {
    try {
      return await work;
    } catch (error) {
      this.notice.fail(error);
      return undefined;
    }
  }
}
