"""What must happen in one step inside Redis.

An entry's id is `<generation>-<number>`: numbers rise by one, and the generation is the millisecond in which the
stream began, so a stream that was lost and begins again has another. Redis' own ids would not show a hole.
"""

from __future__ import annotations

PUBLISH = """
-- KEYS: the stream. ARGV: most entries, ttl in ms, then for each entry its seq and its body ('' where too large).
local key, last = KEYS[1], nil
if redis.call('EXISTS', key) == 1 then
  local info = redis.call('XINFO', 'STREAM', key)
  for at = 1, #info, 2 do
    if info[at] == 'last-generated-id' then last = info[at + 1] end
  end
end
local generation, number
if last then
  generation, number = string.match(last, '^(%d+)-(%d+)$')
else
  local now = redis.call('TIME')
  generation, number = string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000)), 0
end
for at = 3, #ARGV, 2 do
  number = number + 1
  local id = generation .. '-' .. string.format('%.0f', number)
  if ARGV[at + 1] == '' then
    redis.call('XADD', key, 'MAXLEN', '=', ARGV[1], id, 's', ARGV[at])
  else
    redis.call('XADD', key, 'MAXLEN', '=', ARGV[1], id, 's', ARGV[at], 'b', ARGV[at + 1])
  end
end
redis.call('PEXPIRE', key, ARGV[2])
return number
"""

CHECK = """
-- KEYS: streams. ARGV: a cursor for each, or '' to ask for the tail alone.
-- Returns for each its tail ('0-0' where there is none) and 1 where entries after the cursor are gone, else 0.
local answer = {}
for at, key in ipairs(KEYS) do
  local cursor, tail, lost = ARGV[at], '0-0', 0
  if redis.call('EXISTS', key) == 1 then
    local info = redis.call('XINFO', 'STREAM', key)
    for field = 1, #info, 2 do
      if info[field] == 'last-generated-id' then tail = info[field + 1] end
    end
  end
  if cursor ~= '' and cursor ~= tail then
    lost = 1
    if tail ~= '0-0' then
      local following = redis.call('XRANGE', key, '(' .. cursor, '+', 'COUNT', 1)[1]
      if following then
        local generation, number = string.match(cursor, '^(%d+)-(%d+)$')
        local expected = generation .. '-' .. string.format('%.0f', number + 1)
        local begins = cursor == '0-0' and string.match(following[1], '%-1$')
        if following[1] == expected or begins then lost = 0 end
      end
    end
  end
  answer[at] = {tail, lost}
end
return answer
"""
