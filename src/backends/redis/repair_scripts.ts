/**
 * The scripts that put right what can be told from elsewhere. Each looks again first.
 *
 * @module
 */

import { BASE } from "./lua_base.ts";
import { JOURNAL } from "./lua_journal.ts";
import { CHANGES, KEYFRAMES, WRITE } from "./lua_write.ts";
import { writing } from "./script.ts";

/** Counts a user's documents anew. */
export const RECOUNT = writing(`
local call = redis.call
local held = call('ZCARD', KEYS[2]) - call('ZCARD', KEYS[5])
local newest = call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2] or 0
local seq = math.max(call('HGET', KEYS[1], 'seq') or 0, newest)
call('HSET', KEYS[1], 'live', held, 'seq', string.format('%.0f', seq))
return {'done'}
`);

/** Puts a document in the indices where it belongs. `ARGV`: id. */
export const PLACE = writing(
  BASE,
  WRITE,
  `
local id = ARGV[1]
local now = clock()
local head, gone, isDue = find(id, now)
if head then
  call('ZADD', DOCUMENTS, head.seq, id)
  call('ZREM', GRAVES, id)
  expire(id, head)
elseif isDue then
  call('ZADD', EXPIRY, gone[3], id)
elseif gone[1] == 'gone' and call('EXISTS', JOURNAL) == 0 then
  if not call('ZSCORE', GRAVES, id) then call('ZADD', GRAVES, now + TOMBSTONE_MS, id) end
  call('ZREM', EXPIRY, id)
end
return {'done'}
`,
);

/**
 * Puts what is left of a document back into the index of documents; where nothing is, removes what leads to it: rows of indices,
 * and parts of a document without head and journal. `ARGV`: id.
 */
export const UNLIST = writing(
  BASE,
  WRITE,
  `
local id = ARGV[1]
if call('ZSCORE', DOCUMENTS, id) or call('EXISTS', HEAD, JOURNAL) > 0 then return {'done'} end
local now = clock()
local status, goneAt = string.match(call('HGET', MARKS, id) or '', '^(%a+) (%d+) ')
if status == 'live' and tonumber(goneAt) > now then return {'done'} end -- it was evicted
if status then
  call('ZADD', DOCUMENTS, call('HINCRBY', USER, 'seq', 1), id)
  if status == 'live' then call('ZADD', EXPIRY, goneAt, id)
  elseif not call('ZSCORE', GRAVES, id) then call('ZADD', GRAVES, now + TOMBSTONE_MS, id) end
else
  call('UNLINK', FRAMES, STATES, TURNS)
  call('ZREM', EXPIRY, id)
  call('ZREM', GRAVES, id)
end
return {'done'}
`,
);

/** Removes bodies of keyframes that no index leads to. */
export const DROP_STATES = writing(
  BASE,
  `
for _, version in ipairs(call('HKEYS', STATES)) do
  if #call('ZRANGEBYSCORE', FRAMES, version, version) == 0 then call('HDEL', STATES, version) end
end
return {'done'}
`,
);

/** Puts a request into the index that a purge goes by. `KEYS`: the index, the request. `ARGV`: its id, now, how long it is kept. */
export const INDEX_REQUEST = writing(`
if redis.call('EXISTS', KEYS[2]) == 0 then return {'done'} end
redis.call('ZADD', KEYS[1], ARGV[2] + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
if redis.call('PTTL', KEYS[2]) == -1 then redis.call('PEXPIRE', KEYS[2], ARGV[3]) end
return {'done'}
`);

/** Keeps a keyframe. `ARGV`: id, version, write id, bytes, body. */
export const KEEP = writing(
  BASE,
  JOURNAL,
  WRITE,
  KEYFRAMES,
  `
local id, version, writeId, bytes, state = unpack(ARGV)
local head = find(id, clock())
local of = head and entry(tonumber(version))
if not of or part(of, WRITE_ID) ~= writeId then return {'changed'} end
keep(version, writeId, bytes, state)
if head.expiresAt then expire(id, head) end
return {'done'}
`,
);

/**
 * Puts right what is derived from a journal, but for the keyframes to come. `ARGV`: id, version, write id, bytes, offset, base's version,
 * bytes and offset, how many keyframes, their versions, then turns, each with its last version.
 */
export const SETTLE = writing(
  BASE,
  JOURNAL,
  WRITE,
  CHANGES,
  `
local id, version, writeId, bytes, offset, baseVersion, baseBytes, baseOffset, count = unpack(ARGV, 1, 9)
local head = find(id, clock())
if not head or head.version ~= version or head.writeId ~= writeId then return {'changed'} end
set(head, 'bytes', bytes)
set(head, 'offset', offset)
set(head, 'baseVersion', baseVersion)
set(head, 'baseBytes', baseBytes)
set(head, 'baseOffset', baseOffset)
save(head)
local isKept = {}
for i = 10, 9 + count do isKept[ARGV[i]] = true end
for _, member in ipairs(call('ZRANGE', FRAMES, 0, -1)) do
  if not isKept[string.match(member, '^%d+')] then call('ZREM', FRAMES, member) end
end
for _, kept in ipairs(call('HKEYS', STATES)) do
  if not isKept[kept] then call('HDEL', STATES, kept) end
end
call('UNLINK', TURNS)
for i = 10 + count, #ARGV, 2 do call('ZADD', TURNS, ARGV[i], ARGV[i + 1]) end
if head.expiresAt then expire(id, head) end
return {'done'}
`,
);
