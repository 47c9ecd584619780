// Which agents a message can be directed at: those in its conversation, and those that are online.

const SHOWN = 8;
const MEMBERS = 200;

/** A search in one conversation: `query` → at most eight `{ kind, key, name, online }`, the conversation's own first. */
export function agentsFor(api, conversationId) {
  const present = api.get(`/conversations/${conversationId}/members`, { limit: MEMBERS }).then(({ items }) =>
    items.filter(({ actor }) => actor.kind !== "user").map(({ actor, display_name: name }) => ({ ...actor, name, online: false })),
  );
  present.catch(() => {});
  return async (query) => {
    const [own, { items }] = await Promise.all([present, api.get("/actors", { q: query, limit: SHOWN })]);
    return merged(own, items, query).slice(0, SHOWN);
  };
}

/** Agents of the conversation, then others that are online; each once. */
export function merged(own, online, query) {
  const wanted = query.toLowerCase();
  const found = new Map();
  for (const agent of own) {
    if (agent.name.toLowerCase().includes(wanted) || agent.key.toLowerCase().includes(wanted)) found.set(`${agent.kind}/${agent.key}`, agent);
  }
  for (const { kind, key, name } of online) {
    const known = found.get(`${kind}/${key}`);
    found.set(`${kind}/${key}`, known ? { ...known, online: true } : { kind, key, name, online: true });
  }
  return [...found.values()];
}
