/**
 * Lua for the append that nearly all are: one entry on the version that is current, and nothing besides.
 *
 * @module
 */

import { FIELDS } from "./lua_base.ts";

/**
 * Makes few calls and no closures, for it runs more often than everything else together. What it does not care for it
 * answers with nothing, before the first write.
 */
export const PLAIN = `
-- Answers the head's values as they are now, and its new number in the user's order; or nothing, and has done nothing.
local function plain(HEAD, JOURNAL, TURNS, now, before,
    version, writeId, turn, bytes, oldest, draft, writer, body, offset, named, title)
  local values = redis.pcall('HMGET', HEAD, ${FIELDS})
  if values.err or values[1] ~= version or values[2] ~= writeId or values[9] ~= turn then return nil end
  if values[3] and tonumber(values[3]) <= now then return nil end
  local next = string.format('%.0f', version + 1)
  local seq = string.format('%.0f', before + 1)
  local written = string.format('%.0f', math.max(now, tonumber(values[7])))
  if tonumber(named) > tonumber(turn) then turn = named end
  local added = redis.pcall('XADD', JOURNAL, next .. '-0', 'writeId', draft, 'at', written, 'turn', turn,
    'writer', writer, 'seq', seq, 'offset', offset, 'body', body)
  if type(added) == 'table' and added.err then return nil end
  redis.call('HSET', HEAD, 'version', next, 'writeId', draft, 'updatedAt', written, 'writer', writer, 'turn', turn,
    'bytes', bytes, 'offset', offset, 'seq', seq)
  values[1], values[2], values[7], values[8], values[9] = next, draft, written, writer, turn
  values[12], values[14], values[18] = bytes, offset, seq
  if title ~= '' then
    values[5] = string.sub(title, 2)
    redis.call('HSET', HEAD, 'title', values[5])
  end
  if tonumber(oldest) > tonumber(values[13]) then
    values[13] = oldest
    redis.call('HSET', HEAD, 'oldest', oldest)
  end
  if turn ~= '0' then
    if values[10] == '0' then
      values[10] = turn
      redis.call('HSET', HEAD, 'firstTurn', turn)
    end
    redis.call('ZREMRANGEBYSCORE', TURNS, turn, turn)
    redis.call('ZADD', TURNS, turn, next)
    if values[3] then redis.call('PEXPIREAT', TURNS, values[3]) end -- it may have come into being just now
  end
  return values, seq
end
`;
