// Ctrl/Cmd+K: go to a conversation or a person by name.

import { conversationIcon, conversationName, dmOthers } from "../store/names.js";
import { matchRank } from "../store/directory.js";
import { avatar } from "../view/avatar.js";
import { h, icon } from "../view/dom.js";
import { openDialog } from "./dialog.js";

const SHOWN = 10;
const ASK_AFTER_MS = 150;

/** `context`: { api, workspace, directory, open(conversation), direct(memberIds) }. */
export function openSwitcher(context) {
  const { api, workspace, directory } = context;
  let found = [];
  let active = 0;
  let timer = 0;
  let others = [];

  const list = h("ul", { class: "options", role: "listbox", id: "switcher-options", "aria-label": "Matches" });
  const field = h("input", {
    type: "text",
    role: "combobox",
    class: "switcher-field",
    autofocus: true,
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "Jump to a conversation or a person",
    "aria-label": "Jump to a conversation or a person",
    "aria-controls": "switcher-options",
    "aria-expanded": "true",
  });
  field.addEventListener("input", () => {
    active = 0;
    others = [];
    search();
    clearTimeout(timer);
    if (field.value.trim()) timer = setTimeout(ask, ASK_AFTER_MS);
  });
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      active = (active + (event.key === "ArrowDown" ? 1 : -1) + found.length) % Math.max(1, found.length);
      draw();
    } else if (event.key === "Enter") take(found[active]);
    else return;
    event.preventDefault();
  });
  const { close } = openDialog({ title: "Jump to", kind: "top", body: [field, list] });
  search();

  function search() {
    const query = field.value.trim().toLowerCase();
    const known = new Map();
    for (const conversation of [...workspace.joined(), ...others]) known.set(conversation.id, conversation);
    const ranked = [];
    const direct = new Set();
    for (const conversation of known.values()) {
      const people = conversation.type === "dm" ? dmOthers(conversation, directory) : [];
      if (people.length === 1) direct.add(people[0].id);
      const rank = matchRank(query, conversationName(conversation, directory), ...people.map((member) => member.username));
      if (rank < 3) ranked.push({ rank, conversation, lit: workspace.lights(conversation.id) });
    }
    if (query) {
      for (const member of directory.find(query, SHOWN)) {
        if (!direct.has(member.id) && !member.me) ranked.push({ rank: matchRank(query, member.display_name, member.username) + 0.5, member });
      }
    }
    const newest = ({ conversation }) => conversation?.visible_last_message_at ?? "";
    ranked.sort((a, b) => a.rank - b.rank || Number(b.lit ?? 0) - Number(a.lit ?? 0) || newest(b).localeCompare(newest(a)));
    found = ranked.slice(0, SHOWN);
    active = Math.min(active, Math.max(0, found.length - 1));
    draw();
  }

  async function ask() {
    const query = field.value.trim();
    try {
      const answer = await api.get(`/workspaces/${workspace.id}/directory`, { q: query });
      if (field.value.trim() !== query) return;
      others = (answer.conversations ?? []).filter((conversation) => !workspace.conversation(conversation.id));
      if (answer.members?.length) directory.put(answer.members);
      search();
    } catch {
      // What the page knows by itself is still listed.
    }
  }

  function take(choice) {
    if (!choice) return;
    close();
    if (choice.member) context.direct([choice.member.id]);
    else context.open(choice.conversation);
  }

  function draw() {
    list.replaceChildren(...found.map((choice, at) => option(choice, at)));
    if (!found.length) list.replaceChildren(h("li", { class: "none", role: "option", "aria-disabled": "true", "aria-selected": "false" }, "Nothing by that name"));
    if (found.length) field.setAttribute("aria-activedescendant", `switch-${active}`);
    else field.removeAttribute("aria-activedescendant");
  }

  function option(choice, at) {
    const { conversation, member } = choice;
    const name = member ? member.display_name : conversationName(conversation, directory);
    const people = conversation?.type === "dm" ? dmOthers(conversation, directory) : [];
    const note = member ? `@${member.username}` : conversation.joined === false ? "not joined" : choice.lit ? "unread" : "";
    return h(
      "li",
      { role: "option", id: `switch-${at}`, "aria-selected": String(at === active), on: { click: () => take(choice) } },
      member || people.length === 1 ? avatar(member ?? people[0], "small") : icon(conversationIcon(conversation)),
      h("span", { class: choice.lit ? "name lit" : "name" }, name),
      note && h("small", {}, note),
    );
  }
}
