// Keys that work anywhere on the page.

/** `verbs`: { switcher, keys, step(by, unreadOnly), escape, focusComposer }. */
export function listen(verbs) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
    const modal = document.querySelector("dialog[open]");
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (!modal) verbs.switcher();
      return;
    }
    if (modal || document.querySelector(".popover")) return;
    if (event.altKey && !event.ctrlKey && !event.metaKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      verbs.step(event.key === "ArrowUp" ? -1 : 1, event.shiftKey);
    } else if (event.key === "Escape") verbs.escape();
    else if (event.key === "?" && !writing(event.target)) {
      event.preventDefault();
      verbs.keys();
    }
  });
}

function writing(element) {
  return element.matches?.("input, textarea, select, [contenteditable]");
}
