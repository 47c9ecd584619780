// AgentUE 1.1 for the browser: the same rules as conversations/agentue, refused with the same codes.
//
//   reduce(parseModel(model), parseEvent(event)) → the next model
//
// No argument is ever changed; results share what did not change. Both sides play tests/data/agentue*.json.

export const MAX_BLOCKS = 10_000;
export const MAX_DEPTH = 28;
export const MAX_BLOCK_ID_CHARS = 128;
export const MAX_NAME_CHARS = 128;
export const MAX_MASK_CHARS = 1024;
export const SEQ_MAX = Number.MAX_SAFE_INTEGER;

const VERSIONS = ["1.0", "1.1"];
const REFERENCES_SINCE = "1.1";
const PROTECTED_FIELDS = ["id", "ref"];
const ENVELOPE = new Set(["op", "seq", "stream_id", "ts", "event_type"]);
const PAYLOAD = new Set(["mask", "model", "meta", "block"]);
const PAYLOAD_OF = new Map([
  ["start", new Set(["model"])],
  ["set", new Set(["mask", "meta", "block"])],
  ["append", new Set(["mask", "block"])],
  ["error", new Set(["mask", "meta"])],
  ["ping", new Set()],
  ["end", new Set()],
]);

export class AgentUEError extends Error {
  constructor(code, path, message) {
    super(`${path}: ${message}`);
    this.name = "AgentUEError";
    this.code = code;
    this.path = path;
  }
}

const has = (object, key) => Object.prototype.hasOwnProperty.call(object, key);
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isAbsent = (value) => value === undefined || value === null;

function jsonType(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function refuse(code, path, message) {
  throw new AgentUEError(code, path, message);
}

function requireObject(value, path) {
  if (!isObject(value)) refuse("wrong_type", path, `must be an object, not ${jsonType(value)}`);
  return value;
}

function requireName(value, path, maxChars = MAX_NAME_CHARS) {
  if (typeof value !== "string") refuse("wrong_type", path, `must be a string, not ${jsonType(value)}`);
  if (value === "") refuse("wrong_type", path, "must not be empty");
  checkString(value, path);
  if (value.length > maxChars && [...value].length > maxChars) {
    refuse("too_long", path, `has more than ${maxChars} characters`);
  }
  return value;
}

function checkString(value, path) {
  // With the u flag a proper pair is one character of another category: only halves match.
  if (/\p{Surrogate}/u.test(value)) {
    refuse("bad_string", path, "contains half of a surrogate pair, which is not a character");
  }
}

function checkValue(value, path, depth) {
  if (value === null || typeof value === "boolean") return;
  if (typeof value === "string") return checkString(value, path);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) refuse("bad_number", path, "is not a finite number");
    return;
  }
  if (typeof value !== "object") refuse("not_json", path, `is a ${typeof value}, which JSON does not have`);
  if (depth >= MAX_DEPTH) refuse("too_deep", path, `is nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) checkValue(value[at], `${path}[${at}]`, depth + 1);
    return;
  }
  for (const key of Object.keys(value)) {
    checkString(key, `${path}.${key}`);
    checkValue(value[key], `${path}.${key}`, depth + 1);
  }
}

// `{...object}` and this keep a member named __proto__ an ordinary member.
function put(object, key, value) {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

const get = (object, key) => (has(object, key) ? object[key] : undefined);

export function parseModel(raw, path = "model") {
  const model = requireObject(raw, path);
  for (const member of ["version", "biz", "meta", "blocks"]) {
    if (!has(model, member)) refuse("missing_member", path, `${member} is missing`);
  }
  if (!VERSIONS.includes(model.version)) {
    refuse("unknown_version", `${path}.version`, `must be one of ${VERSIONS.join(", ")}`);
  }
  requireName(model.biz, `${path}.biz`);
  parseMeta(model.meta, `${path}.meta`);
  parseBlocks(model.blocks, model.version, `${path}.blocks`);
  for (const key of Object.keys(model)) {
    if (key === "meta" || key === "blocks") continue;
    checkString(key, `${path}.${key}`);
    checkValue(model[key], `${path}.${key}`, 1);
  }
  return model;
}

function parseMeta(raw, path) {
  const meta = requireObject(raw, path);
  checkValue(meta, path, 1);
  checkErrorObject(meta, path);
  return meta;
}

function checkErrorObject(meta, path) {
  const error = get(meta, "error");
  if (isAbsent(error)) return;
  if (!isObject(error)) refuse("bad_error_object", `${path}.error`, "must be null or an object");
  for (const member of ["code", "message"]) {
    if (typeof get(error, member) !== "string") {
      refuse("bad_error_object", `${path}.error.${member}`, "must be a string");
    }
  }
}

function parseBlock(raw, path) {
  const block = requireObject(raw, path);
  if (!has(block, "id")) refuse("incomplete_block", path, "id is missing");
  requireName(block.id, `${path}.id`, MAX_BLOCK_ID_CHARS);
  if (isReference(block)) {
    if (Object.keys(block).length !== 2) {
      refuse("malformed_reference", path, "a reference has id and ref and nothing else");
    }
    if (typeof block.ref !== "string" || block.ref === "") {
      refuse("malformed_reference", `${path}.ref`, "must be a filled string");
    }
    requireName(block.ref, `${path}.ref`);
    return block;
  }
  if (!has(block, "type")) refuse("incomplete_block", path, "type is missing");
  requireName(block.type, `${path}.type`);
  checkValue(block, path, 2);
  return block;
}

export const isReference = (block) => has(block, "ref");

function checkReferenceVersion(version, path) {
  if (version !== REFERENCES_SINCE) {
    refuse("reference_version", path, `is a reference, which needs version ${REFERENCES_SINCE}`);
  }
}

function checkBlockCount(count, path) {
  if (count > MAX_BLOCKS) refuse("too_many_blocks", path, `has ${count} blocks; at most ${MAX_BLOCKS} are allowed`);
}

function parseBlocks(raw, version, path) {
  if (!Array.isArray(raw)) refuse("wrong_type", path, `must be a list, not ${jsonType(raw)}`);
  checkBlockCount(raw.length, path);
  const seen = new Set();
  raw.forEach((item, at) => {
    const block = parseBlock(item, `${path}[${at}]`);
    if (isReference(block)) checkReferenceVersion(version, `${path}[${at}]`);
    if (seen.has(block.id)) refuse("duplicate_block", `${path}[${at}].id`, "is the id of an earlier block");
    seen.add(block.id);
  });
}

// → {op, seq, mask: {root, keys} | null, model?, meta?, block?}
export function parseEvent(raw) {
  const envelope = requireObject(raw, "event");
  if (!has(envelope, "op")) refuse("missing_member", "event", "op is missing");
  if (!PAYLOAD_OF.has(envelope.op)) {
    refuse("unknown_op", "event.op", `must be one of ${[...PAYLOAD_OF.keys()].join(", ")}`);
  }
  for (const name of Object.keys(envelope)) {
    if (!ENVELOPE.has(name) && !PAYLOAD.has(name)) {
      refuse("unknown_member", "event", `has a member ${name} that envelopes do not have`);
    }
    if (PAYLOAD.has(name) && !PAYLOAD_OF.get(envelope.op).has(name)) {
      refuse("unknown_member", `event.${name}`, `does not belong to op ${envelope.op}`);
    }
  }
  if (!has(envelope, "seq")) refuse("missing_member", "event", "seq is missing");
  if (!Number.isInteger(envelope.seq) || envelope.seq < 0 || envelope.seq > SEQ_MAX) {
    refuse("bad_sequence", "event.seq", `must be a whole number from 0 to ${SEQ_MAX}`);
  }
  const event = { ...envelope, mask: has(envelope, "mask") ? parseMask(envelope.mask) : null };
  for (const name of ["stream_id", "event_type"]) {
    if (has(envelope, name)) requireName(envelope[name], `event.${name}`);
  }
  if (has(envelope, "ts") && !Number.isFinite(envelope.ts)) refuse("bad_number", "event.ts", "must be a number");
  PAYLOAD_CHECKS[envelope.op](event);
  return event;
}

function parseMask(raw) {
  if (typeof raw !== "string") refuse("bad_mask", "event.mask", `must be a string, not ${jsonType(raw)}`);
  checkString(raw, "event.mask");
  if (raw.length > MAX_MASK_CHARS && [...raw].length > MAX_MASK_CHARS) {
    refuse("bad_mask", "event.mask", `has more than ${MAX_MASK_CHARS} characters`);
  }
  const [root, ...keys] = raw.split(".");
  if ((root !== "meta" && root !== "block") || keys.length === 0 || keys.includes("")) {
    refuse("bad_mask", "event.mask", "must be meta.<path> or block.<path>");
  }
  return { root, keys };
}

function valueAt(root, keys, path) {
  let value = root;
  for (const key of keys) {
    if (!isObject(value)) refuse("blocked_path", path, `must be an object, not ${jsonType(value)}`);
    if (!has(value, key)) refuse("missing_value", path, `${key} is missing, though the mask names it`);
    value = value[key];
  }
  return value;
}

const PAYLOAD_CHECKS = {
  start(event) {
    needMember(event, "model", "start needs a model");
    parseModel(event.model, "event.model");
  },
  set(event) {
    if (event.mask === null) {
      barMember(event, "meta", "needs a mask that says which path it sets");
      needMember(event, "block", "set without a mask needs a block");
      parseBlock(event.block, "event.block");
    } else if (event.mask.root === "meta") {
      barMember(event, "block", "does not belong to a mask of meta");
      needMember(event, "meta", "a mask of meta needs meta");
      const value = valueAt(requireObject(event.meta, "event.meta"), event.mask.keys, "event.meta");
      checkValue(event.meta, "event.meta", 1);
      if (event.mask.keys.length === 1 && event.mask.keys[0] === "error") parseMeta({ error: value }, "event.meta");
    } else {
      checkBlockPatch(event);
    }
  },
  append(event) {
    if (event.mask === null) refuse("missing_member", "event", "append needs a mask");
    if (event.mask.root !== "block" || event.mask.keys.length !== 1) {
      refuse("bad_mask", "event.mask", "append extends one field: block.<field>");
    }
    checkBlockPatch(event);
    const [field] = event.mask.keys;
    if (typeof event.block[field] !== "string" && !Array.isArray(event.block[field])) {
      refuse("not_appendable", `event.block.${field}`, "must be a string or a list");
    }
  },
  error(event) {
    const { mask } = event;
    if (mask === null || mask.root !== "meta" || mask.keys.length !== 1 || mask.keys[0] !== "error") {
      refuse("bad_mask", "event.mask", "op error needs the mask meta.error");
    }
    needMember(event, "meta", "op error needs meta.error");
    if (!isObject(get(requireObject(event.meta, "event.meta"), "error"))) {
      refuse("bad_error_object", "event.meta.error", "must be an object with string code and message");
    }
    parseMeta(event.meta, "event.meta");
  },
  ping() {},
  end() {},
};

function checkBlockPatch(event) {
  if (PROTECTED_FIELDS.includes(event.mask.keys[0])) refuse("protected_field", "event.mask", "cannot be changed");
  barMember(event, "meta", "does not belong to a mask of block");
  needMember(event, "block", "a mask of block needs a block");
  const block = requireObject(event.block, "event.block");
  if (!has(block, "id")) refuse("incomplete_block", "event.block", "id is missing");
  requireName(block.id, "event.block.id", MAX_BLOCK_ID_CHARS);
  if (isReference(block)) refuse("malformed_reference", "event.block.ref", "a patch cannot carry a reference");
  checkValue(block, "event.block", 2);
  valueAt(block, event.mask.keys, "event.block");
}

function needMember(event, name, message) {
  if (!has(event, name)) refuse("missing_member", "event", message);
}

function barMember(event, name, message) {
  if (has(event, name)) refuse("unknown_member", `event.${name}`, message);
}

export function reduce(model, event) {
  switch (event.op) {
    case "start":
      return event.model;
    case "ping":
    case "end":
      return model;
    default:
  }
  if (event.mask !== null && event.mask.root === "meta") return patchMeta(model, event);
  if (event.mask === null) return putBlock(model, event.block);
  return event.op === "append" ? append(model, event) : patchBlock(model, event);
}

function patchMeta(model, { meta, mask }) {
  const next = assign(model.meta, mask.keys, valueAt(meta, mask.keys, "event.meta"), "model.meta");
  checkErrorObject(next, "model.meta");
  return { ...model, meta: next };
}

function putBlock(model, block) {
  if (isReference(block)) checkReferenceVersion(model.version, "event.block");
  return withBlock(model, position(model, block.id), block);
}

function patchBlock(model, { block: payload, mask }) {
  const at = position(model, payload.id);
  if (at < 0) refuse("missing_block", "event.block.id", `${payload.id} is no block of this model`);
  const value = valueAt(payload, mask.keys, "event.block");
  const block = assign(resolved(model, at), mask.keys, value, `model.blocks[${at}]`);
  requireName(block.type, `model.blocks[${at}].type`);
  return withBlock(model, at, block);
}

function append(model, { block: payload, mask }) {
  const [field] = mask.keys;
  const at = position(model, payload.id);
  if (at < 0) {
    if (!has(payload, "type")) refuse("incomplete_block", "event.block", `${payload.id} is no block of this model`);
    return withBlock(model, at, parseBlock(payload, "event.block"));
  }
  const old = resolved(model, at);
  const before = get(old, field);
  const more = payload[field];
  const block = { ...old };
  if (isAbsent(before)) put(block, field, more);
  else if (typeof before === "string" && typeof more === "string") put(block, field, before + more);
  else if (Array.isArray(before) && Array.isArray(more)) put(block, field, before.concat(more));
  else refuse("not_appendable", `event.block.${field}`, `${jsonType(more)} cannot extend ${jsonType(before)}`);
  requireName(block.type, `model.blocks[${at}].type`);
  return withBlock(model, at, block);
}

const position = (model, id) => model.blocks.findIndex((block) => block.id === id);

function resolved(model, at) {
  const block = model.blocks[at];
  if (isReference(block)) {
    refuse("unresolved_reference", `model.blocks[${at}]`, `the body of ${block.id} is not here to be changed`);
  }
  return block;
}

function withBlock(model, at, block) {
  const blocks = model.blocks.slice();
  if (at < 0) blocks.push(block);
  else blocks[at] = block;
  checkBlockCount(blocks.length, "model.blocks");
  return { ...model, blocks };
}

function assign(root, keys, value, path) {
  const result = { ...root };
  let holder = result;
  for (const key of keys.slice(0, -1)) {
    const child = get(holder, key);
    if (!isAbsent(child) && !isObject(child)) refuse("blocked_path", `${path}.${key}`, "is not an object");
    put(holder, key, { ...child });
    holder = holder[key];
  }
  put(holder, keys[keys.length - 1], value);
  return result;
}
