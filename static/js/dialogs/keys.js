// The list of keys, opened by "?".

import { h } from "../view/dom.js";
import { openDialog } from "./dialog.js";

const mac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");
export const MOD = mac ? "⌘" : "Ctrl";
const ALT = mac ? "⌥" : "Alt";

const GROUPS = [
  [
    "Getting around",
    [
      [[MOD, "K"], "Jump to a conversation or a person"],
      [[ALT, "↑"], "Previous conversation"],
      [[ALT, "↓"], "Next conversation"],
      [[ALT, "Shift", "↓"], "Next unread conversation"],
      [["Esc"], "Close the side panel, then jump to the newest message"],
      [["?"], "This list"],
    ],
  ],
  [
    "Writing",
    [
      [["Enter"], "Send"],
      [["Shift", "Enter"], "New line"],
      [["↑"], "Edit your last message, when the composer is empty"],
      [["@"], "Mention somebody"],
      [["Esc"], "Stop editing or replying"],
    ],
  ],
  [
    "On a message (Shift+Tab from the composer)",
    [
      [["↑"], "Message above"],
      [["↓"], "Message below"],
      [["R"], "Reply"],
      [["E"], "Edit your own"],
      [["W"], "What an agent works on for it"],
      [["U"], "Mark unread from here"],
      [["Delete"], "Delete"],
    ],
  ],
];

export function openKeys() {
  openDialog({
    title: "Keys",
    kind: "wide",
    body: h(
      "div",
      { class: "keys" },
      GROUPS.map(([title, rows]) =>
        h(
          "section",
          {},
          h("h3", {}, title),
          h(
            "dl",
            {},
            rows.map(([keys, words]) => h("div", {}, h("dt", {}, keys.map((key) => h("kbd", {}, key))), h("dd", {}, words))),
          ),
        ),
      ),
    ),
  });
}
