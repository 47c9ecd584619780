// Days and times as the reader's zone has them.

const DAY_MS = 86_400_000;
export const locale = () => (globalThis.navigator?.language?.startsWith("en") ? navigator.language : "en-GB");

const formats = new Map();

function format(name, options, timeZone) {
  const key = `${name}|${timeZone ?? ""}`;
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat(locale(), { ...options, timeZone }));
  return formats.get(key);
}

/** `2026-03-09`: the calendar day of a moment, in `timeZone` (default: the reader's). */
export function dayKey(time, timeZone) {
  const parts = format("key", { year: "numeric", month: "2-digit", day: "2-digit" }, timeZone).formatToParts(
    new Date(time),
  );
  const part = (type) => parts.find((candidate) => candidate.type === type).value;
  return `${part("year")}-${part("month")}-${part("day")}`;
}

/** "Today", "Yesterday", "Monday, 9 March", and with its year where that is not this one. */
export function dayLabel(time, now = Date.now(), timeZone = undefined) {
  const key = dayKey(time, timeZone);
  if (key === dayKey(now, timeZone)) return "Today";
  if (key === dayKey(previousDay(now, timeZone), timeZone)) return "Yesterday";
  const sameYear = key.slice(0, 4) === dayKey(now, timeZone).slice(0, 4);
  const options = { weekday: "long", day: "numeric", month: "long", ...(sameYear ? {} : { year: "numeric" }) };
  return format(sameYear ? "day" : "dayYear", options, timeZone).format(new Date(time));
}

export function clock(time, timeZone) {
  return format("clock", { hour: "numeric", minute: "2-digit" }, timeZone).format(new Date(time));
}

/** The full date and time, for tooltips. */
export function moment(time, timeZone) {
  return format("moment", { dateStyle: "full", timeStyle: "short" }, timeZone).format(new Date(time));
}

/** A moment in the day before `now`; days that clock changes make longer or shorter included. */
function previousDay(now, timeZone) {
  const today = dayKey(now, timeZone);
  let time = new Date(now).getTime();
  for (let hours = 0; hours < 30 && dayKey(time, timeZone) === today; hours += 1) time -= DAY_MS / 24;
  return time;
}
