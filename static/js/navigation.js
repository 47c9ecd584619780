// Addresses: every conversation and its details have one. Links are real; inside this workspace they are followed
// without loading the page again.

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

const ID = new RegExp(`^${UUID}$`);

export class Navigation {
  #slug;
  #arrive;
  #pattern;

  /** `arrive(place, how)` shows `{ conversationId, panel, beside, messageId }`; `how` is "load", "link" or "history". */
  constructor(slug, arrive) {
    this.#slug = slug;
    this.#arrive = arrive;
    this.#pattern = new RegExp(`^/w/${slug}/(?:c/(${UUID})/(about/)?)?$`);
    window.addEventListener("popstate", () => this.#arrive(this.place(), "history"));
    document.addEventListener("click", (event) => this.#clicked(event));
  }

  home() {
    return `/w/${this.#slug}/`;
  }

  /** `panel`: with its details, `beside`: with the conversation of that id; at most one of them. */
  to(conversationId, { panel = false, beside = null } = {}) {
    return `/w/${this.#slug}/c/${conversationId}/${panel ? "about/" : ""}${beside ? `?beside=${beside}` : ""}`;
  }

  /** What an address of this workspace shows, or null. */
  place(url = location) {
    const match = this.#pattern.exec(url.pathname);
    if (!match) return null;
    const query = new URLSearchParams(url.search);
    const messageId = /^#m-(.+)$/.exec(url.hash)?.[1] ?? query.get("at");
    const panel = Boolean(match[2]);
    const beside = !panel && match[1] && ID.test(query.get("beside")) ? query.get("beside") : null;
    return { conversationId: match[1] ?? null, panel, beside, messageId };
  }

  go(path, { replace = false } = {}) {
    if (path === location.pathname + location.search + location.hash) return;
    history[replace ? "replaceState" : "pushState"](null, "", path);
    this.#arrive(this.place(), "link");
  }

  #clicked(event) {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest?.("a[href]");
    if (!link || link.target || link.hasAttribute("download")) return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || !this.place(url)) return;
    event.preventDefault();
    this.go(url.pathname + url.search + url.hash);
  }
}
