// Dialogs: the browser's own modal element, which keeps the focus inside and closes on Escape.

import { h, iconButton } from "../view/dom.js";

let serial = 0;

/** Opens a modal dialog; `close()` removes it and gives the focus back. */
export function openDialog({ title, body, kind = "", onClose }) {
  const id = `dialog-${(serial += 1)}`;
  const before = document.activeElement;
  const element = h(
    "dialog",
    { class: `dialog ${kind}`.trim(), "aria-labelledby": id },
    h("header", {}, h("h2", { id }, title), iconButton("close", "Close", () => element.close())),
    h("div", { class: "dialog-body" }, body),
  );
  element.addEventListener("close", () => {
    element.remove();
    if (before?.isConnected) before.focus({ preventScroll: true });
    onClose?.();
  });
  element.addEventListener("click", (event) => event.target === element && element.close());
  document.body.append(element);
  element.showModal();
  element.querySelector("[autofocus]")?.focus();
  return { element, close: () => element.close() };
}

/**
 * A form in a dialog. `run(values, form)` does the work; while it runs the form is disabled, and when it fails the
 * message is shown and everything stays as it was entered. Resolves to the result, or to null where it was closed.
 */
export function formDialog({ title, body, submit, danger = false, run }) {
  return new Promise((resolve) => {
    let result = null;
    const failure = h("p", { class: "failure", role: "alert", hidden: true });
    const button = h("button", { class: danger ? "button danger" : "button primary" }, submit);
    const fields = h("fieldset", { class: "plain" }, body);
    const form = h(
      "form",
      { method: "dialog" },
      fields,
      failure,
      h("footer", {}, h("button", { type: "button", class: "button", on: { click: () => close() } }, "Cancel"), button),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (button.disabled) return;
      const values = Object.fromEntries(new FormData(form));
      failure.hidden = true;
      fields.disabled = button.disabled = true;
      try {
        result = (await run(values, form)) ?? true;
        close();
      } catch (error) {
        fields.disabled = button.disabled = false;
        failure.textContent = error.message;
        failure.hidden = false;
        form.querySelector("input, textarea")?.focus();
      }
    });
    const { close } = openDialog({ title, body: form, onClose: () => resolve(result) });
  });
}

/** Asks before something that cannot be taken back. */
export function confirmDialog({ title, text, submit, run, danger = true }) {
  return formDialog({ title, body: h("p", {}, text), submit, danger, run });
}

/** A labelled text field. */
export function textField(name, label, { value = "", hint = "", ...attributes } = {}) {
  const hintId = hint ? `hint-${name}` : null;
  return h(
    "label",
    { class: "field" },
    h("span", {}, label),
    h("input", { name, value, type: "text", autocomplete: "off", "aria-describedby": hintId, ...attributes }),
    hint && h("small", { id: hintId }, hint),
  );
}

/** Radio buttons with explanations: options are `[value, label, hint]`. */
export function choiceField(name, legend, options, chosen) {
  return h(
    "fieldset",
    { class: "choices" },
    h("legend", {}, legend),
    options.map(([value, label, hint]) =>
      h(
        "label",
        {},
        h("input", { type: "radio", name, value, checked: value === chosen }),
        h("span", {}, h("b", {}, label), hint && h("small", {}, hint)),
      ),
    ),
  );
}
