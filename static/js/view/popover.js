// Small menus and pickers beside the button that opened them: light dismissal, Escape, and arrow keys.

import { h, icon } from "./dom.js";

const GAP_PX = 4;
const EDGE_PX = 8;

let open = null;

/** Shows `content` at `opener`; returns a function that closes it. Focus goes in, and back when it closes. */
export function popover(opener, content, { label, role = "dialog", onClose } = {}) {
  open?.();
  const box = h("div", { class: "popover", popover: "auto", role, "aria-label": label }, content);
  document.body.append(box);
  const close = () => box.hidePopover();
  box.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    if (open === close) open = null;
    const inside = box.contains(document.activeElement) || document.activeElement === document.body;
    box.remove();
    opener.setAttribute("aria-expanded", "false");
    if (inside && opener.isConnected) opener.focus();
    onClose?.();
  });
  box.addEventListener("keydown", (event) => moveByArrows(box, event));
  box.showPopover();
  place(box, opener);
  opener.setAttribute("aria-expanded", "true");
  open = close;
  (box.querySelector("[autofocus], input, button, a") ?? box).focus();
  return close;
}

/** A menu: items are `{ icon, label, run, danger?, hint? }`; null is a line between groups. */
export function menu(opener, items, label, onClose) {
  const nodes = items.map((item) =>
    item
      ? h(
          "button",
          {
            type: "button",
            role: "menuitem",
            class: item.danger ? "danger" : null,
            on: {
              click: () => {
                close();
                item.run();
              },
            },
          },
          icon(item.icon),
          h("span", {}, item.label),
          item.hint && h("kbd", {}, item.hint),
        )
      : h("hr", {}),
  );
  const close = popover(opener, h("div", { class: "menu" }, nodes), { label, role: "menu", onClose });
  return close;
}

function place(box, opener) {
  const at = opener.getBoundingClientRect();
  const size = box.getBoundingClientRect();
  const below = at.bottom + GAP_PX + size.height <= innerHeight - EDGE_PX;
  const top = below ? at.bottom + GAP_PX : Math.max(EDGE_PX, at.top - GAP_PX - size.height);
  const left = Math.min(Math.max(EDGE_PX, at.right - size.width), innerWidth - size.width - EDGE_PX);
  box.style.top = `${top}px`;
  box.style.left = `${left}px`;
}

function moveByArrows(box, event) {
  const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (!by || event.target.matches("input, textarea")) return;
  const stops = [...box.querySelectorAll("button, a")];
  const at = stops.indexOf(document.activeElement);
  event.preventDefault();
  stops[(at + by + stops.length) % stops.length]?.focus();
}
