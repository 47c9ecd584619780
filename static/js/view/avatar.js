// Avatars: initials on a colour that belongs to the member. `loopd/pages/looks.py` draws the same on the server.

import { h } from "./dom.js";

export const HUES = 10;

/** The colour (0 to 9) of an id: its last two hexadecimal digits. */
export function hue(id) {
  return Number.parseInt(String(id).slice(-2), 16) % HUES || 0;
}

/** One or two initials; the first character alone for names in scripts without spaces. */
export function initials(name) {
  const words = name.trim().split(/\s+/).filter(Boolean);
  if (!words.length) return "?";
  const first = [...words[0]][0];
  const last = words.length > 1 ? [...words.at(-1)][0] : "";
  return (first + last).toUpperCase();
}

export function avatar(member, size = "") {
  const shape = member.actor && member.actor.kind !== "user" ? " agent" : "";
  return h("span", { class: `avatar hue-${hue(member.id)}${shape} ${size}`.trim(), "aria-hidden": "true" }, initials(member.display_name));
}
