// The members of the workspace that this page knows, by id and by username.

const PAGE = 200;
const MAX_PAGES = 50;

export class Directory extends EventTarget {
  #api;
  #workspaceId;
  #byId = new Map();
  #next;
  #loading = null;

  /** `members` came with the page; `next` is the cursor of those that did not. */
  constructor(api, workspaceId, me, members, next) {
    super();
    this.#api = api;
    this.#workspaceId = workspaceId;
    this.#next = next ?? null;
    this.me = me;
    this.put([me, ...members]);
  }

  put(members) {
    let changed = false;
    for (const given of members) {
      const member = { ...given, me: given.id === this.me.id };
      if (JSON.stringify(member) === JSON.stringify(this.#byId.get(member.id))) continue;
      this.#byId.set(member.id, member);
      changed = true;
    }
    if (changed) this.dispatchEvent(new Event("change"));
  }

  get complete() {
    return this.#next === null;
  }

  /** The member, or a stand-in until it is loaded. */
  get(id) {
    const known = this.#byId.get(id);
    if (known) return known;
    if (id) this.#loadRest();
    return { id: id ?? "", username: "", display_name: "Someone", actor: { kind: "user", key: "" }, status: "active", unknown: true };
  }

  all() {
    return [...this.#byId.values()].filter((member) => member.status !== "deactivated");
  }

  /** Members whose name or username has the query at the start of a word; those that begin with it first. */
  find(query, limit = 8) {
    const wanted = query.trim().toLowerCase();
    const ranked = [];
    for (const member of this.all()) {
      const rank = matchRank(wanted, member.display_name, member.username);
      if (rank < 3) ranked.push([rank, member]);
    }
    ranked.sort((a, b) => a[0] - b[0] || a[1].display_name.localeCompare(b[1].display_name));
    return ranked.slice(0, limit).map(([, member]) => member);
  }

  /** The same, asking the server where this page does not know everybody. */
  async search(query, limit = 20) {
    if (!this.complete && query.trim()) {
      const answer = await this.#api.get(`/workspaces/${this.#workspaceId}/members`, { q: query.trim(), limit });
      this.put(answer.items);
    }
    return this.find(query, limit);
  }

  #loadRest() {
    if (this.complete || this.#loading) return;
    this.#loading = this.#pages().catch(() => {}).finally(() => {
      this.#loading = null;
    });
  }

  async #pages() {
    for (let page = 0; page < MAX_PAGES && this.#next; page += 1) {
      const query = { limit: PAGE, cursor: this.#next };
      const answer = await this.#api.get(`/workspaces/${this.#workspaceId}/members`, query);
      this.#next = answer.next;
      this.put(answer.items);
    }
  }
}

/** 0: a name begins with the query, 1: a later word does, 2: the name contains it, 3: no match. */
export function matchRank(query, ...names) {
  if (!query) return 0;
  let best = 3;
  for (const name of names) {
    const at = name.toLowerCase().indexOf(query);
    if (at === -1) continue;
    const wordStart = new RegExp(`(^|[\\s._/-])${query.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`).test(name.toLowerCase());
    best = Math.min(best, at === 0 ? 0 : wordStart ? 1 : 2);
  }
  return best;
}
