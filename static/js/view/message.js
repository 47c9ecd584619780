// One message as an article: who, when, what it answers, its blocks, its reactions.

import { actorText } from "../store/names.js";
import { avatar } from "./avatar.js";
import { contentNodes, plainText } from "./blocks.js";
import { clock, dayLabel, moment } from "./dates.js";
import { h, icon } from "./dom.js";
import { drawn, spoken } from "./emoji.js";
import { remember } from "./growing.js";

const QUOTE_CHARS = 140;
const NAMES_IN_TIP = 12;
const STATUS_WORDS = { streaming: "writing…", failed: "failed", cancelled: "cancelled", expired: "stopped without an end" };

/**
 * The article of a stored message. `context`: { directory, quoted(id) → message or null, react(message, emoji),
 * goTo(id), address(conversationId), markup(message) → HTML by block id or null, whole(messageId, blockId) → block }.
 */
export function messageNode({ message, grouped }, context) {
  const { directory } = context;
  const author = speaker(message, directory);
  const mentioned = (message.mentions ?? []).map((id) => directory.get(id));
  const how = blockContext(message, mentioned, context);
  const blocks = contentNodes(message.content, how);
  const classes = ["message"];
  if (grouped) classes.push("grouped");
  if (mentioned.some((member) => member.me)) classes.push("mentioned");
  if (message.message_type === "system") classes.push("system");
  const time = timeNode(message.created_at);
  return h(
    "article",
    {
      class: classes.join(" "),
      id: `m-${message.id}`,
      tabindex: "-1",
      "aria-label": `${author.display_name}, ${clock(message.created_at)}`,
      "aria-busy": message.status === "streaming" ? "true" : null,
      data: { id: message.id },
    },
    h("div", { class: "gutter" }, grouped ? time : avatar(author)),
    h(
      "div",
      { class: "body" },
      !grouped && head(message, author, time),
      message.reply_to_id && quote(message.reply_to_id, context),
      remember(h("div", { class: "content" }, blocks, message.edited_at && edited(message), status(message)), message, blocks, how),
      reactions(message, context),
      thread(message, context),
    ),
  );
}

function blockContext(message, mentioned, { markup, whole }) {
  return {
    mentioned,
    html: markup(message),
    growing: message.status === "streaming",
    whole: (blockId) => whole(message.id, blockId),
  };
}

/** The article of a message on its way, with what its author can do about it. `act`: { retry(id), discard(id) }. */
export function pendingNode({ entry, grouped }, context, act) {
  const me = context.directory.me;
  const failed = entry.state === "failed";
  const words = { queued: "Waiting…", sending: "Sending…" }[entry.state];
  return h(
    "article",
    { class: `message pending ${entry.state}${grouped ? " grouped" : ""}`, tabindex: "-1", "aria-label": `${me.display_name}, ${failed ? "not sent" : "sending"}` },
    h("div", { class: "gutter" }, grouped ? null : avatar(me)),
    h(
      "div",
      { class: "body" },
      !grouped && h("header", {}, h("span", { class: "author" }, me.display_name), addressee(entry.target), timeNode(entry.createdAt)),
      entry.replyTo && quote(entry.replyTo, context),
      h("div", { class: "content" }, h("div", { class: "text", dir: "auto" }, entry.text)),
      failed
        ? h(
            "p",
            { class: "sendstate failed", role: "alert" },
            icon("warning"),
            h("span", {}, `Not sent. ${entry.error}`),
            h("button", { type: "button", on: { click: () => act.retry(entry.clientId) } }, "Retry"),
            h("button", { type: "button", on: { click: () => act.discard(entry.clientId) } }, "Discard"),
          )
        : h("p", { class: "sendstate" }, icon("clock"), words),
    ),
  );
}

/** Who speaks: the author, or the role it speaks as. */
export function speaker(message, directory) {
  const author = directory.get(message.author_id);
  const own = author.actor;
  const { actor } = message;
  if (!actor || !own || author.unknown || (actor.kind === own.kind && actor.key === own.key)) return author;
  const role = actor.key.startsWith(`${own.key}/`) ? actor.key.slice(own.key.length + 1) : actor.key;
  return { ...author, display_name: `${author.display_name} / ${role}` };
}

function head(message, author, time) {
  const agent = author.actor && author.actor.kind !== "user";
  return h(
    "header",
    {},
    h("span", { class: "author", dir: "auto" }, author.display_name),
    agent && h("span", { class: "tag" }, "agent"),
    addressee(message.target),
    time,
  );
}

function addressee(target) {
  return target && h("span", { class: "addressee" }, "to ", h("b", { dir: "auto" }, actorText(target)));
}

function timeNode(time) {
  return h("time", { datetime: time, title: moment(time) }, clock(time));
}

function edited(message) {
  return h("small", { class: "edited", title: `Edited ${moment(message.edited_at)}` }, "(edited)");
}

function status(message) {
  const words = STATUS_WORDS[message.status];
  return words && h("p", { class: `status ${message.status}` }, words);
}

function quote(id, { directory, quoted, goTo }) {
  const original = quoted(id);
  const text = original ? plainText(original.content).replace(/\s+/g, " ").trim() : "";
  const words = original ? text.slice(0, QUOTE_CHARS) || "an attachment" : "an earlier message";
  return h(
    "a",
    {
      class: "quote",
      href: `#m-${id}`,
      on: {
        click: (event) => {
          event.preventDefault();
          goTo(id);
        },
      },
    },
    icon("reply"),
    original && h("b", {}, speaker(original, directory).display_name),
    h("span", {}, words),
  );
}

function thread(message, { address }) {
  const { conversation_id: id, count, last_at: lastAt } = message.thread ?? {};
  if (!id || !count) return null;
  return h(
    "a",
    { class: "thread-link", href: address(id) },
    icon("thread"),
    `${count} ${count === 1 ? "reply" : "replies"}`,
    lastAt && h("small", { title: moment(lastAt) }, `last ${dayLabel(lastAt).toLowerCase()}, ${clock(lastAt)}`),
  );
}

function reactions(message, { directory, react }) {
  const given = Object.entries(message.reactions ?? {}).filter(([, members]) => members.length);
  if (!given.length) return null;
  return h(
    "ul",
    { class: "reactions", "aria-label": "Reactions" },
    given.map(([emoji, members]) => {
      const mine = members.includes(directory.me.id);
      const names = members.slice(0, NAMES_IN_TIP).map((id) => directory.get(id).display_name);
      if (members.length > NAMES_IN_TIP) names.push(`${members.length - NAMES_IN_TIP} more`);
      const label = `${spoken(emoji)}, ${members.length}: ${names.join(", ")}`;
      return h(
        "li",
        {},
        h(
          "button",
          {
            type: "button",
            class: `reaction${mine ? " mine" : ""}`,
            "aria-pressed": mine ? "true" : "false",
            "aria-label": label,
            title: label,
            on: { click: () => react(message, emoji) },
          },
          h("span", { class: "emoji" }, drawn(emoji)),
          String(members.length),
        ),
      );
    }),
  );
}
