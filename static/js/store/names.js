// What a conversation is called, and where it stands in lists. `loopd/pages/looks.py` names them alike on the server.

const MAX_NAMES = 4;

/** The name of a conversation for a reader: its own, or the people in it. */
export function conversationName(conversation, directory) {
  if (conversation.name) return conversation.name;
  if (conversation.type === "dm") {
    const others = dmOthers(conversation, directory).map((member) => member.display_name);
    if (!others.length) return `${directory.me.display_name} (you)`;
    const rest = others.length - MAX_NAMES;
    return others.slice(0, MAX_NAMES).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
  }
  if (conversation.type === "thread") return "Thread";
  return conversation.actor ? `Conversation of ${conversation.actor.key}` : "Conversation";
}

/** The members of a DM except the reader. */
export function dmOthers(conversation, directory) {
  return (conversation.members ?? [])
    .map((member) => (typeof member === "string" ? directory.get(member) : { ...directory.get(member.id), ...member }))
    .filter((member) => member.id !== directory.me.id);
}

export function conversationIcon(conversation) {
  if (conversation.type === "channel") return conversation.visibility === "private" ? "lock" : "hash";
  return { dm: "person", thread: "thread", task: "check", conversation: "spark" }[conversation.type] ?? "hash";
}

/** A conversation of people and agents, in which a message can be directed at one of them. */
export function isUserConversation(conversation) {
  return conversation?.type === "conversation" && !conversation.parent_id;
}

/** Where an agent works inside, for a user conversation. */
export function isProcessConversation(conversation) {
  return conversation?.type === "conversation" && Boolean(conversation.parent_id);
}

export function actorText({ kind, key }) {
  return `${kind}/${key}`;
}

/** With its sign, as people say it: "#general". */
export function spokenName(conversation, directory) {
  const name = conversationName(conversation, directory);
  return conversation.type === "channel" ? `#${name}` : name;
}

export const SECTIONS = [
  { type: "channel", title: "Channels" },
  { type: "conversation", title: "Agent conversations" },
  { type: "dm", title: "Direct messages" },
  { type: "task", title: "Tasks" },
  { type: "thread", title: "Threads" },
];

/**
 * The sidebar as data: sections with their conversations in order. Channels by name; the rest newest first. Threads and
 * tasks stand there only while they show something or are open.
 */
export function sections(conversations, directory, { lights, openId }) {
  return SECTIONS.map(({ type, title }) => {
    const list = conversations.filter(
      (conversation) =>
        conversation.type === type && (!["thread", "task"].includes(type) || conversation.id === openId || lights(conversation.id)),
    );
    if (type === "channel") {
      list.sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true, sensitivity: "base" }));
    } else list.sort((a, b) => (b.visible_last_message_at ?? b.id).localeCompare(a.visible_last_message_at ?? a.id));
    return { type, title, list };
  });
}
