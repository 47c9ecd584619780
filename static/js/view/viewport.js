// Browsers that lay the keyboard over the page (Safari) tell the height that is left only here.

/** Keeps `--viewport` at the visible height, unless the page is zoomed. */
export function followViewport() {
  const viewport = window.visualViewport;
  if (!viewport) return;
  const measure = () => {
    if (viewport.scale === 1) document.documentElement.style.setProperty("--viewport", `${viewport.height}px`);
  };
  viewport.addEventListener("resize", measure);
  measure();
}
