// Plain text into pieces that are safe to show: text, links, mentions. Pure; `blocks.js` makes nodes of the pieces.

const LINK = /\b(?:https?:\/\/|mailto:)[^\s<>"'`]+/gi;
const SCHEMES = ["http:", "https:", "mailto:"];
const WORD = /[\p{L}\p{N}_]/u;

/** The address if it may be linked to (http, https, mailto), else null. */
export function safeUrl(address) {
  try {
    const url = new URL(address);
    return SCHEMES.includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/**
 * Pieces `{ kind: "text" | "link" | "mention", text, href?, member? }`. `mentioned` are the members that the message
 * mentions; "@username" counts where it is not inside a word, and the longest username wins.
 */
export function pieces(text, mentioned = []) {
  const out = [];
  let end = 0;
  for (const match of text.matchAll(LINK)) {
    const address = trimmed(match[0]);
    const href = safeUrl(address);
    if (!href || match.index < end) continue;
    withMentions(text.slice(end, match.index), mentioned, out);
    out.push({ kind: "link", text: address, href });
    end = match.index + address.length;
  }
  withMentions(text.slice(end), mentioned, out);
  return out;
}

function withMentions(text, mentioned, out) {
  const longestFirst = [...mentioned].sort((a, b) => b.username.length - a.username.length);
  let end = 0;
  for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
    if (at < end || (at > 0 && WORD.test(text[at - 1]))) continue;
    const member = longestFirst.find((candidate) => names(text, at + 1, candidate.username));
    if (!member) continue;
    if (at > end) out.push({ kind: "text", text: text.slice(end, at) });
    end = at + 1 + member.username.length;
    out.push({ kind: "mention", text: text.slice(at, end), member });
  }
  if (end < text.length) out.push({ kind: "text", text: text.slice(end) });
}

function names(text, at, username) {
  const next = text[at + username.length];
  return text.startsWith(username, at) && (next === undefined || !WORD.test(next));
}

/** Without the punctuation that ends a sentence, and without a bracket that the address did not open. */
function trimmed(address) {
  let out = address;
  for (;;) {
    const last = out.at(-1);
    if (".,;:!?*_~".includes(last)) out = out.slice(0, -1);
    else if ((last === ")" && !balanced(out, "(", ")")) || (last === "]" && !balanced(out, "[", "]"))) {
      out = out.slice(0, -1);
    } else return out;
  }
}

function balanced(text, open, close) {
  return text.split(open).length >= text.split(close).length;
}
