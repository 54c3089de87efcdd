/**
 * Lua for the append that nearly all are: one entry on the version that is current, and nothing besides.
 *
 * @module
 */

/**
 * Makes few calls and no closures, for it runs more often than everything else together. What it does not care for it
 * answers with nothing, before the first write.
 */
export const PLAIN = `
-- Answers what the caller, who knows the head, cannot know of it as it is now, and its new number in the user's order; or
-- nothing, and has done nothing.
local function plain(HEAD, JOURNAL, TURNS, now, before,
    version, writeId, turn, bytes, oldest, draft, writer, body, offset, named, title)
  local call = redis.call
  local values = redis.pcall('HMGET', HEAD, 'version', 'writeId', 'turn', 'expiresAt', 'updatedAt', 'oldest', 'firstTurn',
    'ttlDays', 'baseVersion', 'baseBytes', 'baseOffset', 'createdSeq')
  if values.err or values[1] ~= version or values[2] ~= writeId or values[3] ~= turn then return nil end
  local expiresAt, firstTurn = values[4], values[7]
  if expiresAt and tonumber(expiresAt) <= now then return nil end
  local next = string.format('%.0f', version + 1)
  local seq = string.format('%.0f', before + 1)
  local written = string.format('%.0f', math.max(now, tonumber(values[5])))
  if tonumber(named) > tonumber(turn) then turn = named end
  if tonumber(oldest) < tonumber(values[6]) then oldest = values[6] end
  local added = redis.pcall('XADD', JOURNAL, next .. '-0', 'writeId', draft, 'at', written, 'turn', turn,
    'writer', writer, 'seq', seq, 'offset', offset, 'body', body)
  if type(added) == 'table' and added.err then return nil end
  call('HSET', HEAD, 'version', next, 'writeId', draft, 'updatedAt', written, 'writer', writer, 'turn', turn,
    'bytes', bytes, 'oldest', oldest, 'offset', offset, 'seq', seq)
  if title ~= '' then call('HSET', HEAD, 'title', string.sub(title, 2)) end
  if turn ~= '0' then
    if firstTurn == '0' then
      firstTurn = turn
      call('HSET', HEAD, 'firstTurn', turn)
    end
    call('ZREMRANGEBYSCORE', TURNS, turn, turn)
    call('ZADD', TURNS, turn, next)
    if expiresAt then call('PEXPIREAT', TURNS, expiresAt) end -- it may have come into being just now
  end
  return table.concat({written, turn, seq, oldest, firstTurn, expiresAt or '-', values[8] or '-',
    values[9], values[10], values[11], values[12]}, ' '), seq
end
`;
