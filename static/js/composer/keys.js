// What a key in the composer means.

const COMPOSING = 229;

/** Enter that sends: not with Shift (a line break), and not the Enter that ends a word in an input method. */
export function sends(event) {
  return event.key === "Enter" && !event.shiftKey && !event.altKey && !composing(event);
}

/** True while an input method composes. Safari ends the composition first and still sends its Enter, as key code 229. */
export function composing(event) {
  return event.isComposing || event.keyCode === COMPOSING;
}
