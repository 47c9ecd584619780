// Joins the parts of the page: stores, the socket, views, and what people do; and shows what its address says.

import { Api } from "./api.js";
import { Badge } from "./badge.js";
import { Beside } from "./beside.js";
import { Bus } from "./bus/bus.js";
import { Composer } from "./composer/composer.js";
import { Outbox } from "./composer/outbox.js";
import { ConversationDialogs } from "./dialogs/conversations.js";
import { openKeys } from "./dialogs/keys.js";
import { openSwitcher } from "./dialogs/switcher.js";
import { Live } from "./live.js";
import { Navigation } from "./navigation.js";
import { Reading } from "./reading.js";
import { Room } from "./room.js";
import { listen } from "./shortcuts.js";
import { Directory } from "./store/directory.js";
import { outboxKeeper } from "./store/kept.js";
import { Markup } from "./store/markup.js";
import { isUserConversation, spokenName } from "./store/names.js";
import { Workspace } from "./store/workspace.js";
import { Streaming } from "./streaming.js";
import { followTheme } from "./theme.js";
import { ConversationVerbs, mayIn } from "./verbs/conversations.js";
import { MessageVerbs } from "./verbs/messages.js";
import { Saying } from "./verbs/saying.js";
import { MessageActions } from "./view/actions.js";
import { Announcer } from "./view/announcer.js";
import { Banner } from "./view/banner.js";
import { drawnMarkup } from "./view/blocks.js";
import { icon } from "./view/dom.js";
import { Header } from "./view/header.js";
import { Intro } from "./view/intro.js";
import { speaker } from "./view/message.js";
import { Notice } from "./view/notice.js";
import { Panel } from "./view/panel.js";
import { Sidebar, drawDots } from "./view/sidebar.js";
import { Timeline } from "./view/timeline.js";
import { followViewport } from "./view/viewport.js";

const OTHERS_EVERY_MS = 60_000;
const one = (selector) => document.querySelector(selector);

export class App {
  constructor(boot) {
    this.#stores(boot);
    this.#views(boot);
    this.#wire();
    this.#start(boot);
  }

  #stores(boot) {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.api = new Api(boot.csrf);
    this.saying = new Saying(new Notice(one("#notice")));
    this.workspace = new Workspace(boot);
    this.directory = new Directory(this.api, this.workspace.id, boot.me, boot.members, boot.members_next);
    this.room = new Room(this.api, this.workspace);
    this.markup = new Markup(async (id, ids, blockIds) => {
      return (await this.api.get(`/conversations/${id}/rendered`, { message_ids: ids.join(","), block_id: blockIds })).items;
    });
    this.bus = new Bus(`${scheme}//${location.host}/ws/workspaces/${this.workspace.id}/`);
    this.navigation = new Navigation(this.workspace.slug, (place, how) => this.#show(place, how));
    this.mayIn = (conversation) => mayIn(conversation, this.workspace);
    this.messageVerbs = new MessageVerbs(this);
    this.conversationVerbs = new ConversationVerbs(this);
    this.outbox = new Outbox((entry) => this.messageVerbs.post(entry), outboxKeeper(boot.me.id));
    this.dialogs = new ConversationDialogs({
      api: this.api,
      workspace: this.workspace,
      directory: this.directory,
      open: (conversation) => {
        this.workspace.put(conversation);
        this.navigation.go(this.navigation.to(conversation.id));
      },
    });
  }

  #views(boot) {
    const { api, workspace, directory, room, outbox, messageVerbs: messages, conversationVerbs: conversations } = this;
    this.badge = new Badge(workspace, () => this.#roomName(), boot.icons);
    this.sidebar = new Sidebar(one("#conversations"), workspace, directory, {
      openId: () => room.id,
      offered: (type) => ["channel", "conversation", "dm"].includes(type),
      create: (type) => ({ channel: () => this.dialogs.create(), conversation: () => this.dialogs.converse(), dm: () => this.dialogs.writeTo() })[type](),
      browse: () => this.dialogs.browse(),
      more: () => this.saying.attempt(workspace.loadMore(api)),
    });
    const closePanel = () => this.navigation.go(this.navigation.to(room.id));
    this.panel = new Panel(one("#panel"), api, workspace, directory, room, conversations, closePanel);
    this.header = new Header({ head: one("#head"), gate: one("#gate"), composer: one("#composer") }, workspace, directory, room, conversations, {
      isOpen: () => this.panel.open,
      toggle: () => this.navigation.go(this.navigation.to(room.id, { panel: !this.panel.open })),
    });
    const log = one("#log");
    const context = {
      directory,
      quoted: (id) => room.window?.get(id) ?? null,
      react: (message, emoji) => messages.react(message, emoji),
      goTo: (id) => messages.goTo(id),
      address: (id) => this.navigation.to(id),
      markup: (message) => this.markup.of(message) ?? this.markup.settled(message),
      whole: (id, blockId) => messages.block(id, blockId),
    };
    this.timeline = new Timeline({ scroller: one("#scroller"), log, above: one("#above"), below: one("#below"), jump: one("#jump") }, room, outbox, context);
    for (const drawn of drawnMarkup(log)) this.markup.keep(drawn);
    this.intro = new Intro({ box: one("#intro"), log }, workspace, directory, room, {
      browse: () => this.dialogs.browse(),
      writeTo: () => this.dialogs.writeTo(),
      retry: () => this.#open(this.navigation.place(), {}),
      home: () => this.navigation.home(),
    });
    new MessageActions(log, this.timeline, room, messages);
    this.composer = new Composer(one("#composer"), messages, (query, limit) => directory.find(query, limit));
    this.reading = new Reading({ workspace, room, timeline: this.timeline, bus: this.bus, api });
    this.announcer = new Announcer(one("#announcer"), (message) => speaker(message, directory).display_name);
    this.beside = new Beside(one("#beside"), this, context, closePanel);
    this.live = new Live({ bus: this.bus, api, workspace, directory, room, beside: this.beside.room, timeline: this.timeline, outbox, panel: this.panel });
    this.streaming = new Streaming(room, api, () => this.live.catchUp());
    new Banner(one("#connection"), this.bus, this.live);
    followTheme(one("#theme"), icon);
    followViewport();
  }

  #wire() {
    const { workspace, room, outbox, bus, timeline } = this;
    for (const type of ["unread", "workspaces"]) workspace.addEventListener(type, () => drawDots(one("#rail"), workspace));
    room.addEventListener("changed", () => timeline.draw());
    this.markup.addEventListener("change", () => timeline.draw());
    room.addEventListener("finished", ({ detail }) => detail.author_id !== this.directory.me.id && this.announcer.say([detail]));
    room.addEventListener("reopen", () => this.#open(this.navigation.place(), {}));
    room.addEventListener("arrived", (event) => this.#arrived(event.detail));
    room.addEventListener("trouble", (event) => this.saying.attempt(Promise.reject(event.detail)));
    outbox.addEventListener("change", () => timeline.draw());
    outbox.addEventListener("stored", (event) => room.put(event.detail));
    this.directory.addEventListener("change", () => {
      timeline.reset({ following: timeline.following });
      timeline.draw();
    });
    this.api.addEventListener("signed-out", () => bus.stop("signed-out"));
    bus.addEventListener("state", () => {
      document.body.dataset.connection = bus.state;
      if (bus.state !== "stopped") return;
      this.streaming.stop();
      this.beside.streaming.stop();
      this.api.end();
      this.badge.clear();
    });
    for (const type of ["online", "pageshow"]) window.addEventListener(type, () => bus.wake());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState !== "visible") return;
      bus.wake();
      timeline.draw();
    });
    window.addEventListener("beforeunload", (event) => outbox.sending && event.preventDefault());
    one("#find").addEventListener("click", () => this.#switcher());
    one("#keys").addEventListener("click", openKeys);
    listen({ switcher: () => this.#switcher(), keys: openKeys, step: (by, unread) => this.#step(by, unread), escape: () => this.#escape() });
    if (workspace.workspaces.length > 1) this.#watchOthers();
  }

  #start(boot) {
    document.documentElement.classList.add("live");
    const place = this.navigation.place();
    if (place?.conversationId) this.#open(place, { page: place.messageId ? null : boot.page });
    else this.#show(place ?? { conversationId: null }, "load");
    drawDots(one("#rail"), this.workspace);
    this.bus.start();
  }

  #show(place, how) {
    if (!place) return location.reload();
    const { conversationId, messageId } = place;
    if (conversationId && conversationId !== this.room.id) return this.#open(place, {});
    if (!conversationId) {
      this.room.close();
      this.composer.close();
      this.timeline.reset();
      this.timeline.drawNow();
    } else if (messageId && how !== "load") this.messageVerbs.goTo(messageId);
    this.#panes(place);
    return undefined;
  }

  async #open(place, { page }) {
    const { conversationId, messageId } = place;
    this.panel.hide();
    this.beside.hide();
    this.timeline.reset();
    const opened = this.room.open(conversationId, { page, at: messageId });
    // What is typed while messages are loading belongs to this conversation already.
    if (this.room.conversation) this.#openComposer();
    else this.composer.close();
    this.#panes(place);
    if (!page) this.timeline.drawNow();
    await opened;
    if (this.room.id !== conversationId) return;
    this.#panes(this.navigation.place() ?? place);
    if (this.room.window) this.#settle(messageId);
  }

  #settle(messageId) {
    const { room, timeline, composer } = this;
    this.#openComposer();
    timeline.drawNow();
    if (messageId) timeline.show(messageId);
    else if (room.newAfterSeq !== null) timeline.showLine();
    if (!messageId && matchMedia("(hover: hover)").matches) composer.focus();
    timeline.drawNow();
    this.#offerLine();
  }

  #openComposer() {
    const { id, conversation } = this.room;
    this.composer.open(id, `Message ${this.#roomName()}`, { directed: isUserConversation(conversation) });
  }

  #panes({ conversationId, panel, beside }) {
    document.body.dataset.view = !conversationId ? "list" : panel || beside ? "panel" : "room";
    if (conversationId && panel && this.room.conversation) this.panel.show(conversationId);
    else this.panel.hide();
    if (conversationId && beside) this.beside.show(beside);
    else this.beside.hide();
    this.sidebar.draw();
    this.header.draw();
    this.badge.draw();
    one('#conversations [aria-current="page"]')?.scrollIntoView({ block: "nearest" });
  }

  #roomName() {
    const conversation = this.room.conversation;
    return conversation ? spokenName(conversation, this.directory) : "";
  }

  /** Messages of others came in: the line stands before them if the reader was elsewhere. */
  #arrived(messages) {
    const { room, timeline, reading } = this;
    const others = messages.filter((message) => message.author_id !== this.directory.me.id);
    if (!others.length) return;
    const there = timeline.following && reading.attentive;
    if (!there && room.newAfterSeq === null) room.drawLine(others[0].seq - 1);
    timeline.note(others.length);
    this.announcer.say(others);
  }

  /** Offers the way to the "new messages" line where it is not loaded. */
  #offerLine() {
    const button = one("#to-line");
    button.hidden = !this.room.lineIsAbove;
    button.onclick = async () => {
      button.hidden = true;
      await this.room.reachLine();
      this.timeline.drawNow();
      this.timeline.showLine();
    };
  }

  #switcher() {
    openSwitcher({
      api: this.api,
      workspace: this.workspace,
      directory: this.directory,
      open: this.dialogs.open,
      direct: (ids) => this.saying.attempt(this.dialogs.direct(ids)),
    });
  }

  #step(by, unreadOnly) {
    const order = this.sidebar.order();
    const at = order.findIndex((conversation) => conversation.id === this.room.id);
    const start = at === -1 && by > 0 ? -1 : Math.max(at, 0);
    for (let tried = 1; tried <= order.length; tried += 1) {
      const next = order[(start + by * tried + 2 * order.length) % order.length];
      if (!unreadOnly || this.workspace.lights(next.id)) return this.navigation.go(this.navigation.to(next.id));
    }
    return undefined;
  }

  #escape() {
    if (this.panel.open || this.beside.open) return this.navigation.go(this.navigation.to(this.room.id));
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
}
