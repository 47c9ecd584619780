// What is unread, as the server says it: absolute numbers with a version. A snapshot replaces; a delta applies only on
// top of the version it follows, else the snapshot is asked for again. Nothing here counts by itself.

const SHOWN = ["ready", "snapshot_serving"];

/** The state before anything is known. */
export function nothing() {
  return { epoch: null, version: null, hasUnread: false, counts: new Map() };
}

/** A snapshot, or the `unread` object that the page was served with. */
export function replaced(frame) {
  const counts = new Map();
  for (const [id, entry] of Object.entries(frame.counts ?? {})) if (showsSomething(entry)) counts.set(id, entry);
  return { epoch: frame.epoch ?? null, version: frame.version ?? null, hasUnread: Boolean(frame.has_unread), counts };
}

/**
 * Applies an `unread.delta`: `{ state, resync }`. `resync` is true where the delta does not follow this state; the
 * state is then unchanged. A delta that this state already contains changes nothing.
 */
export function advanced(state, frame) {
  if (frame.epoch !== state.epoch || state.version === null) return { state, resync: true };
  if (frame.version <= state.version) return { state, resync: false };
  if (frame.since !== state.version) return { state, resync: true };
  const counts = new Map(state.counts);
  for (const [id, entry] of Object.entries(frame.counts ?? {})) {
    if (showsSomething(entry)) counts.set(id, entry);
    else counts.delete(id);
  }
  return {
    state: { epoch: frame.epoch, version: frame.version, hasUnread: Boolean(frame.has_unread), counts },
    resync: false,
  };
}

/** Whether an entry lights its conversation; a manual marker does in every state. */
export function showsSomething(entry) {
  if (!entry) return false;
  return Boolean(entry.manual) || (SHOWN.includes(entry.state) && number(entry) > 0);
}

/** The number of a badge: messages and activities. */
export function number(entry) {
  return entry && SHOWN.includes(entry.state) ? (entry.messages ?? 0) + (entry.activities ?? 0) : 0;
}

/**
 * Totals for title, favicon and the workspace's dot. `reading` is the conversation that is being read right now (seen,
 * focused, at its end): what arrives there is read as it comes, so it lights nothing.
 */
export function totals(state, reading = null) {
  let count = 0;
  let mentions = 0;
  let lit = 0;
  for (const [id, entry] of state.counts) {
    if (id === reading && !entry.manual) continue;
    lit += 1;
    count += number(entry);
    mentions += entry.mentions ?? 0;
  }
  const hidden = state.hasUnread && state.counts.size === 0;
  return { count, mentions, hasUnread: lit > 0 || hidden };
}

/** What a badge says, for the eye and for the ear; a hint is called one. Null where there is nothing to say. */
export function badgeLabel(entry) {
  const count = number(entry);
  if (count === 0) return entry?.manual ? { text: "", spoken: "marked unread" } : null;
  const about = entry.state === "snapshot_serving" ? "about " : "";
  const mentioned = entry.mentions > 0 ? `, ${entry.mentions} mentioning you` : "";
  return { text: count > 99 ? "99+" : String(count), spoken: `${about}${count} unread${mentioned}` };
}
