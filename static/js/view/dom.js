// Building nodes. Text always becomes a text node: no string is read as HTML here.

/**
 * An element. Props: `class`, `on` ({ event: listener }), `data` ({ name: value }), booleans as bare attributes, other
 * values as attributes; null and false are left out. Children: nodes, strings, numbers; null and false are left out.
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [type, listener] of Object.entries(value)) element.addEventListener(type, listener);
    else if (name === "data") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  return fill(element, ...children);
}

/** Gives an element these children, and no others. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(3).filter(present));
  return element;
}

function present(child) {
  return child !== null && child !== undefined && child !== false && child !== "";
}

const SVG = "http://www.w3.org/2000/svg";
/** An icon (of the page's sprite) for the eye only; its button or link carries the name. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("focusable", "false");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

/** A button with an icon and a name that is shown as its tooltip. */
export function iconButton(name, label, onClick, props = {}) {
  return h(
    "button",
    { type: "button", title: label, "aria-label": label, on: { click: onClick }, ...props, class: `tool ${props.class ?? ""}` },
    icon(name),
  );
}

/**
 * Makes `parent` hold exactly these nodes in this order, moving as little as possible: nodes that stay keep focus,
 * selection and scroll position.
 */
export function arrange(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
  let next = parent.firstChild;
  for (const node of nodes) {
    if (node === next) next = next.nextSibling;
    else parent.insertBefore(node, next);
  }
}
