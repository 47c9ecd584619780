// Light, dark, or as the system has it. The page's head applies the choice before anything is painted.

const KEY = "loopd.theme";
const ORDER = ["auto", "light", "dark"];
const WORDS = { auto: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };
const ICONS = { auto: "auto", light: "sun", dark: "moon" };

export function followTheme(button, drawIcon) {
  const draw = (theme) => {
    button.replaceChildren(drawIcon(ICONS[theme]));
    button.title = WORDS[theme];
    button.setAttribute("aria-label", `${WORDS[theme]}. Change it.`);
  };
  const current = () => document.documentElement.dataset.theme || "auto";
  button.hidden = false;
  button.addEventListener("click", () => {
    const theme = ORDER[(ORDER.indexOf(current()) + 1) % ORDER.length];
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // It then holds for this page.
    }
    draw(theme);
  });
  draw(current());
}
