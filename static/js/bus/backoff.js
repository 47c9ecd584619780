// How long to wait before connecting again: at once first, then exponential with full jitter, so that a restarted
// server is not met by every page at the same moment.

export const BASE_MS = 1_000;
export const CAP_MS = 30_000;
export const STABLE_MS = 10_000;

/** Milliseconds before retry number `attempt` (0 is the first one after a connection was lost). */
export function retryDelayMs(attempt, random = Math.random) {
  if (attempt <= 0) return 0;
  const ceiling = Math.min(CAP_MS, BASE_MS * 2 ** Math.min(attempt - 1, 30));
  return Math.round(random() * ceiling);
}

/** The attempt number that follows a connection which was live for `liveMs`: a stable one starts the count again. */
export function attemptAfter(attempt, liveMs) {
  return liveMs >= STABLE_MS ? 0 : attempt;
}
