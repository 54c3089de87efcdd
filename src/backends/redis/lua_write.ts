/**
 * Lua that writes. Redis does not roll back: whatever uses it has checked everything before, and begins with what Redis may
 * refuse.
 *
 * @module
 */

import { REQUEST_MS, TOMBSTONE_MS } from "../records.ts";

/** What every write does: entries, expiry, requests, tombstones, and telling of it. */
export const WRITE = `
local DAY_MS, TOMBSTONE_MS, REQUEST_MS = 86400000, ${TOMBSTONE_MS}, ${REQUEST_MS}

local function toTable(flat)
  local fields = {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end

-- The whole of a head
local function lay(head)
  local fields = {}
  for i, value in ipairs(toValues(head)) do
    if value then
      fields[#fields + 1] = FIELDS[i]
      fields[#fields + 1] = value
    end
  end
  call('HSET', HEAD, unpack(fields))
end

-- Last of all, and allowed to fail: a user without the right to publish can still write.
local function tell()
  redis.pcall('PUBLISH', USER, '')
end

local function expiryOf(ttlDays, now)
  return int(now + math.floor(ttlDays * DAY_MS + 0.5))
end

-- What a tombstone tells, or will tell. No value has a space in it.
local function mark(id, ...)
  call('HSET', MARKS, id, table.concat({...}, ' '))
end

-- Lets the keys end when the head does, and keeps what its tombstone will tell outside of them. Redis ends a key when its
-- time is over, and a document has ended when it has come: a head that can be read must be that of a document that lives.
local function expire(id, head)
  local firstWriteId = head.expiresAt and call('HGET', HEAD, 'firstWriteId') or '-'
  for i = 6, 10 do
    if not head.expiresAt then call('PERSIST', KEYS[i])
    else call('PEXPIREAT', KEYS[i], i == 6 and int(head.expiresAt - 1) or head.expiresAt) end
  end
  if head.expiresAt then
    call('ZADD', EXPIRY, head.expiresAt, id)
    mark(id, 'live', head.expiresAt, head.ttlDays or '-', head.kind, head.createdSeq, firstWriteId, '-', '0')
  else
    call('ZREM', EXPIRY, id)
    call('HDEL', MARKS, id)
  end
end

-- The first write of a script that makes entries: on a server that is full it is refused, and nothing has happened yet.
local function put(version, writeId, at, turn, writer, seq, offset, body)
  local id = int(version) .. '-0'
  local text = table.concat({at, seq, turn, writeId, offset, writer}, ' ')
  call('XADD', JOURNAL, id, 'stamp', text, 'body', body)
  return {id, text}
end

local function indexTurn(turn, version)
  if turn == '0' then return end
  call('ZREMRANGEBYSCORE', TURNS, turn, turn)
  call('ZADD', TURNS, turn, version)
end

-- Leaves a tombstone of what was found gone, or is to be. Begins with letting go of memory, so that it works on a server that
-- is full. An expiry has no write id of its own: the time to the microsecond tells it from one that a failover undid.
local function bury(id, gone, now)
  if gone[END_ID] == '-' then gone[END_ID] = table.concat(call('TIME'), '.') end
  call('UNLINK', HEAD, JOURNAL, FRAMES, STATES, TURNS)
  local seq = call('HINCRBY', USER, 'seq', 1)
  call('HINCRBY', USER, 'live', -1)
  call('ZREM', EXPIRY, id)
  call('ZADD', DOCUMENTS, seq, id)
  call('ZADD', GRAVES, now + TOMBSTONE_MS, id)
  mark(id, gone[STATUS], gone[GONE_AT], gone[TTL_DAYS], gone[KIND], gone[CREATED_SEQ], gone[FIRST_WRITE_ID],
    gone[END_ID], gone[LAST_VERSION])
  tell()
  gone[NUMBER] = int(seq)
  return gone
end

-- The live head; or what to answer, after burying what is past due.
local function findLive(id, now)
  local head, gone, isDue = find(id, now)
  if isDue then bury(id, gone, now) end
  return head, gone
end
`;

/** Request ids, for scripts whose eleventh key is the user's index of them. */
export const REQUESTS = `
local REQUESTS = KEYS[11]

local function recall(key)
  local flat = call('HGETALL', key)
  if #flat > 0 then return {'replayed', flat}, toTable(flat) end
end

local function remember(key, requestId, fingerprint, meta, id, head, now)
  local record = {'id', requestId, 'fingerprint', fingerprint, 'meta', meta, 'documentId', id, 'version', head.version,
    'writeId', head.writeId, 'at', int(now), 'turn', head.turn}
  if head.ttlDays then
    record[#record + 1] = 'ttlDays'
    record[#record + 1] = head.ttlDays
  end
  if head.expiresAt then
    record[#record + 1] = 'expiresAt'
    record[#record + 1] = head.expiresAt
  end
  call('HSET', key, unpack(record))
  call('PEXPIRE', key, REQUEST_MS)
  call('ZREMRANGEBYSCORE', REQUESTS, '-inf', now)
  call('ZADD', REQUESTS, now + REQUEST_MS, requestId)
  call('PEXPIRE', REQUESTS, REQUEST_MS)
end
`;

/** Keyframes, and what goes with the bytes before them. */
export const KEYFRAMES = `
local function keep(version, writeId, bytes, state)
  call('ZREMRANGEBYSCORE', FRAMES, version, version)
  call('ZADD', FRAMES, version, version .. ' ' .. bytes .. ' ' .. writeId)
  call('HSET', STATES, version, state)
end

-- Lets the bytes before the newest keyframe at or before the oldest version go.
local function reclaim(oldest)
  local version = frameAt(oldest)
  if not version then return end
  local first = entry(tonumber(version))
  call('XTRIM', JOURNAL, 'MINID', version .. '-0')
  for _, member in ipairs(call('ZRANGEBYSCORE', FRAMES, '-inf', '(' .. version)) do
    call('HDEL', STATES, string.match(member, '^%d+'))
  end
  call('ZREMRANGEBYSCORE', FRAMES, '-inf', '(' .. version)
  if first and part(first, TURN) ~= '0' then call('ZREMRANGEBYSCORE', TURNS, '-inf', '(' .. part(first, TURN)) end
end
`;

/** Changes of a head, written at once. */
export const CHANGES = `
local changed, isRenewed = false, false

local function set(head, name, value)
  if head[name] == value then return end
  head[name] = value
  changed = true
  isRenewed = isRenewed or name == 'expiresAt' or name == 'ttlDays'
end

-- Answers whether the time to live is another.
local function save(head)
  if changed then lay(head) end
  return isRenewed
end

-- 'keep', 'none', or days
local function setLife(head, ttlDays, now)
  if ttlDays == 'keep' then return end
  local days = ttlDays ~= 'none' and ttlDays or nil
  set(head, 'ttlDays', days)
  set(head, 'expiresAt', days and expiryOf(days, now))
end
`;
