/**
 * Lua for the append that nearly all are: one entry on the version that is current, and nothing besides.
 *
 * @module
 */

/** How many arguments it has. */
export const PLAIN_ARGUMENTS = 5;

/**
 * Makes few calls and no closures, for it runs more often than everything else together. What it does not care for it
 * answers with nothing, before the first write.
 *
 * The caller knows the head, and what it will be but for the time and the number of the entry (see `packed.ts`). Texts of
 * times can be compared as texts: all have 13 digits until the year 2286.
 */
export const PLAIN = `
local function clock()
  local time = redis.call('TIME')
  return string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
end

-- Answers when it was written and its number in the user's order; or nothing, and has done nothing. The number is the one
-- after that before, which is for the caller to keep; without that it is taken here.
local function plain(USER, HEAD, JOURNAL, TURNS, at, before, known, rest, stamp, body, title)
  if redis.pcall('HGET', HEAD, 'now') ~= known then return nil end
  local version, expiresAt = string.match(rest, '^(%d+) (%S+)')
  if expiresAt ~= '-' and tonumber(expiresAt) <= tonumber(at) then return nil end
  if known > at then at = string.format('%.0f', math.max(string.match(known, '^%d+'), at)) end
  local seq = string.format('%.0f', before and before + 1 or redis.call('HINCRBY', USER, 'seq', 1))
  local numbered = at .. ' ' .. seq .. ' '
  local added = redis.pcall('XADD', JOURNAL, version .. '-0', 'stamp', numbered .. stamp, 'body', body)
  if type(added) == 'table' then return nil end -- one among many that is damaged must not end the script
  redis.call('HSET', HEAD, 'now', numbered .. rest .. ' ' .. stamp)
  if title then redis.call('HSET', HEAD, 'title', title) end
  if TURNS then
    local turn = string.match(stamp, '^%d+')
    redis.call('ZREMRANGEBYSCORE', TURNS, turn, turn)
    redis.call('ZADD', TURNS, turn, version)
    if expiresAt ~= '-' then redis.call('PEXPIREAT', TURNS, expiresAt) end -- it may have come into being just now
  end
  return at .. ' ' .. seq, seq
end

-- The id, and what follows it after a NUL: a title, if there is a new one.
local function parse(named)
  local nul = string.find(named, '\\0', 1, true)
  if nul then return string.sub(named, 1, nul - 1), string.sub(named, nul + 1) end
  return named
end

-- The entry is of a turn: no number begins with a 0 but that.
local function hasTurn(stamp)
  return string.byte(stamp) ~= 48
end
`;
