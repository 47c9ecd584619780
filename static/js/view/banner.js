// The strip that says the connection is in trouble: calm, after two seconds, with the way out.

import { h } from "./dom.js";

const PATIENCE_MS = 2_000;

export class Banner {
  #box;
  #bus;
  #since = 0;
  #timer = 0;
  #words = "";

  #live;

  /** `live` tells whether the page is still behind what happened. */
  constructor(box, bus, live) {
    this.#box = box;
    this.#bus = bus;
    this.#live = live;
    bus.addEventListener("state", () => this.#changed());
    live.addEventListener("behind", () => this.#changed());
    for (const type of ["online", "offline"]) window.addEventListener(type, () => this.#tick());
  }

  #changed() {
    const { state } = this.#bus;
    if (this.#fine) {
      this.#since = 0;
      return this.#hide();
    }
    if (state === "stopped") return this.#stopped(this.#bus.reason);
    if (!this.#since) this.#since = Date.now();
    this.#tick();
  }

  get #fine() {
    return this.#bus.live && !this.#live.behind;
  }

  #tick() {
    clearTimeout(this.#timer);
    if (this.#fine || this.#bus.state === "stopped" || !this.#since) return;
    const quiet = this.#since + PATIENCE_MS - Date.now();
    if (quiet <= 0) this.#show();
    this.#timer = setTimeout(() => this.#tick(), quiet > 0 ? quiet : 1_000);
  }

  #show() {
    const left = Math.ceil((this.#bus.retryAt - Date.now()) / 1_000);
    const offline = navigator.onLine === false;
    const waiting = this.#bus.state === "waiting" && left > 0;
    const words = this.#bus.live ? "Catching up…" : offline ? "You are offline" : "Reconnecting…";
    const wait = waiting ? `next try in ${left} s` : "";
    if (this.#words !== words) {
      this.#words = words;
      this.#box.replaceChildren(
        h("span", {}, words),
        h("span", { class: "wait", "aria-hidden": "true" }),
        h("button", { type: "button", on: { click: () => this.#retry() } }, "Retry now"),
      );
      this.#box.className = "banner trouble";
      this.#box.hidden = false;
    }
    this.#box.querySelector(".wait").textContent = wait ? `(${wait})` : "";
  }

  #retry() {
    if (this.#bus.live) this.#live.catchUp();
    else this.#bus.wake();
  }

  #stopped(reason) {
    clearTimeout(this.#timer);
    this.#words = reason;
    const here = encodeURIComponent(location.pathname);
    const signedOut = reason === "signed-out";
    this.#box.replaceChildren(
      h("span", {}, signedOut ? "You are signed out. What you wrote is kept." : "You no longer have access to this workspace."),
      signedOut ? h("a", { href: `/login/?next=${here}` }, "Sign in") : h("a", { href: "/" }, "To your workspaces"),
    );
    this.#box.className = "banner stopped";
    this.#box.hidden = false;
  }

  #hide() {
    clearTimeout(this.#timer);
    this.#words = "";
    this.#box.hidden = true;
    this.#box.replaceChildren();
  }
}
