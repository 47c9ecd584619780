// What the browser shows outside the page: the title's number, the favicon's dot, the installed app's badge.

const APP_BADGE_LOCK = "loopd-app-badge";

export class Badge {
  #workspace;
  #name = () => "";
  #icons;
  #link;
  #ownsAppBadge = false;

  /** `name()` is what the page shows; `icons` are the two favicons `{ plain, unread }`. */
  constructor(workspace, name, icons) {
    this.#workspace = workspace;
    this.#name = name;
    this.#icons = icons;
    this.#link = document.querySelector('link[rel="icon"]');
    for (const type of ["unread", "conversations"]) workspace.addEventListener(type, () => this.draw());
    // One page of the browser sets the app's badge, whichever came first and is still there.
    navigator.locks?.request(APP_BADGE_LOCK, () => {
      this.#ownsAppBadge = true;
      this.draw();
      return new Promise(() => {});
    });
  }

  draw() {
    const { count, hasUnread } = this.#workspace.totals();
    const sign = count > 0 ? `(${count}) ` : hasUnread ? "(•) " : "";
    const title = sign + [this.#name(), this.#workspace.name, "loopd"].filter(Boolean).join(" · ");
    if (document.title !== title) document.title = title;
    const icon = hasUnread ? this.#icons.unread : this.#icons.plain;
    if (this.#link.getAttribute("href") !== icon) this.#link.setAttribute("href", icon);
    if (this.#ownsAppBadge) appBadge(count, hasUnread);
  }

  /** After signing out nothing may remain. */
  clear() {
    this.#link.setAttribute("href", this.#icons.plain);
    appBadge(0, false);
  }
}

function appBadge(count, hasUnread) {
  const done = hasUnread ? navigator.setAppBadge?.(count || undefined) : navigator.clearAppBadge?.();
  done?.catch(() => {});
}
