// What the browser keeps between pages: drafts and messages on their way. A full or forbidden storage loses only this.

const DRAFT = "loopd.draft.";
const OUTBOX = "loopd.outbox.";
const TARGET = "loopd.to.";

export function readDraft(conversationId) {
  return attempt(() => JSON.parse(localStorage.getItem(DRAFT + conversationId))) ?? { text: "", replyTo: null };
}

/** An empty draft is forgotten. */
export function keepDraft(conversationId, { text, replyTo }) {
  attempt(() => {
    if (text || replyTo) localStorage.setItem(DRAFT + conversationId, JSON.stringify({ text, replyTo }));
    else localStorage.removeItem(DRAFT + conversationId);
  });
}

/** Whom the last message in a conversation was directed at: { kind, key, name }, or null for everybody. */
export function readTarget(conversationId) {
  const kept = attempt(() => JSON.parse(localStorage.getItem(TARGET + conversationId)));
  return typeof kept?.kind === "string" && typeof kept.key === "string" ? kept : null;
}

export function keepTarget(conversationId, target) {
  attempt(() => (target ? localStorage.setItem(TARGET + conversationId, JSON.stringify(target)) : localStorage.removeItem(TARGET + conversationId)));
}

/** For this page alone: two pages must not both send what one of them queued. */
export function outboxKeeper(memberId) {
  const key = OUTBOX + memberId;
  return {
    load: () => attempt(() => JSON.parse(sessionStorage.getItem(key))) ?? [],
    save: (entries) => attempt(() => (entries.length ? sessionStorage.setItem(key, JSON.stringify(entries)) : sessionStorage.removeItem(key))),
  };
}

function attempt(work) {
  try {
    return work();
  } catch {
    return null;
  }
}
