// The emoji offered for reactions, and how named reactions (as other chats export them) are shown.

export const OFFERED = [
  ["👍", "thumbs up"], ["👎", "thumbs down"], ["❤️", "heart"], ["😂", "laughing"], ["🎉", "party"], ["👀", "looking"],
  ["🙏", "thanks"], ["✅", "done"], ["❌", "no"], ["🔥", "fire"], ["💯", "hundred"], ["🚀", "rocket"],
  ["😄", "smile"], ["😅", "sweat smile"], ["😍", "love"], ["🤔", "thinking"], ["😮", "surprised"], ["😢", "sad"],
  ["👏", "clapping"], ["🙌", "hooray"], ["💪", "strong"], ["🤝", "deal"], ["👋", "wave"], ["🫡", "salute"],
  ["☕", "coffee"], ["🐛", "bug"], ["💡", "idea"], ["⚠️", "warning"], ["⏳", "waiting"], ["📌", "pin"],
];

export const QUICK = ["👍", "❤️", "😂", "🎉", "👀", "✅"];

const NAMED = {
  "+1": "👍", thumbsup: "👍", "-1": "👎", thumbsdown: "👎", heart: "❤️", joy: "😂", laughing: "😆", tada: "🎉", eyes: "👀",
  pray: "🙏", white_check_mark: "✅", heavy_check_mark: "✔️", x: "❌", fire: "🔥", 100: "💯", rocket: "🚀", smile: "😄",
  grinning: "😀", grin: "😁", sweat_smile: "😅", heart_eyes: "😍", thinking_face: "🤔", open_mouth: "😮", cry: "😢",
  sob: "😭", clap: "👏", raised_hands: "🙌", muscle: "💪", handshake: "🤝", wave: "👋", coffee: "☕", bug: "🐛",
  bulb: "💡", warning: "⚠️", hourglass: "⌛", pushpin: "📌", ok_hand: "👌", slightly_smiling_face: "🙂", wink: "😉",
  sunglasses: "😎", facepalm: "🤦", shrug: "🤷", point_up: "☝️", star: "⭐", sparkles: "✨", bow: "🙇", scream: "😱",
};

/** What to draw for a stored reaction: the emoji, or its name between colons. */
export function drawn(reaction) {
  if (!/^[a-z0-9_+-]+$/.test(reaction)) return reaction;
  return NAMED[reaction] ?? `:${reaction}:`;
}

/** The word for a reaction, for tooltips and screen readers. */
export function spoken(reaction) {
  const emoji = drawn(reaction);
  return OFFERED.find(([candidate]) => candidate === emoji)?.[1] ?? reaction.replaceAll("_", " ");
}
