// The order of things in a timeline, as plain data: day separators, the "new messages" line, messages, and what is
// still on its way. Consecutive messages of one author stand together.

import { actorText } from "../store/names.js";
import { dayKey } from "./dates.js";

export const GROUP_MS = 5 * 60_000;

/**
 * Rows of `{ key, kind, … }` with kind `day`, `new`, `message` or `pending`. `newAfterSeq`: the line stands before the
 * first message of somebody else beyond that seq (null: no line). `pending` are entries of the outbox.
 */
export function rows(messages, { pending = [], newAfterSeq = null, myId = null, timeZone = undefined } = {}) {
  const out = [];
  let day = null;
  let before = null;
  let lineDrawn = newAfterSeq === null;
  for (const message of messages) {
    const key = dayKey(message.created_at, timeZone);
    if (key !== day) {
      out.push({ key: `day:${key}`, kind: "day", time: message.created_at });
      day = key;
      before = null;
    }
    if (!lineDrawn && message.seq > newAfterSeq && message.author_id !== myId) {
      out.push({ key: "new", kind: "new" });
      lineDrawn = true;
      before = null;
    }
    out.push({ key: message.id, kind: "message", message, grouped: continues(before, message) });
    before = message;
  }
  for (const entry of pending) {
    const message = { author_id: myId, created_at: entry.createdAt, message_type: "default", reply_to_id: entry.replyTo, target: entry.target };
    const key = dayKey(entry.createdAt, timeZone);
    if (key !== day) {
      out.push({ key: `day:${key}`, kind: "day", time: entry.createdAt });
      day = key;
      before = null;
    }
    out.push({ key: `pending:${entry.clientId}`, kind: "pending", entry, grouped: continues(before, message) });
    before = message;
  }
  return out;
}

function continues(before, message) {
  return (
    before !== null &&
    before.author_id === message.author_id &&
    name(before.actor) === name(message.actor) &&
    name(before.target) === name(message.target) &&
    before.message_type === message.message_type &&
    !message.reply_to_id &&
    new Date(message.created_at) - new Date(before.created_at) < GROUP_MS
  );
}

function name(actor) {
  return actor ? actorText(actor) : "";
}
