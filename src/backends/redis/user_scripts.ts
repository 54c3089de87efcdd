/**
 * The scripts that concern a user as a whole: what there is, and letting go of it.
 *
 * @module
 */

import { BASE } from "./lua_base.ts";
import { WRITE } from "./lua_write.ts";
import { reading, writing } from "./script.ts";

/**
 * Documents in the order of `seq`, as of one moment, as far as their heads are among the keys: in full only when they are
 * known beforehand. `KEYS` from the sixth: heads. `ARGV`: direction, from, limit, then the id of each head.
 */
export const PAGE = reading(
  BASE,
  `
local heads = {}
for i = 4, #ARGV do heads[ARGV[i]] = KEYS[i + 2] end
local command, last = 'ZRANGEBYSCORE', '+inf'
if ARGV[1] == 'down' then command, last = 'ZREVRANGEBYSCORE', '-inf' end
local members = call(command, DOCUMENTS, '(' .. ARGV[2], last, 'WITHSCORES', 'LIMIT', 0, ARGV[3])
local now = clock()
local records = {}
for i = 1, #members, 2 do
  HEAD = heads[members[i]]
  if not HEAD then break end
  local head, gone = find(members[i], now)
  records[#records + 1] = head and {'found', toValues(head)} or gone
end
return {call('HGET', USER, 'seq') or '0', call('HGET', USER, 'forgotten') or '0', members, records}
`,
);

/** Ids of what is past due, and of tombstones that are old enough. `ARGV`: limit. */
export const LEFTOVERS = reading(
  BASE,
  `
local now = clock()
local ids = call('ZRANGEBYSCORE', EXPIRY, '-inf', now, 'LIMIT', 0, ARGV[1])
for _, id in ipairs(call('ZRANGEBYSCORE', GRAVES, '-inf', now, 'LIMIT', 0, ARGV[1] - #ids)) do ids[#ids + 1] = id end
return ids
`,
);

/** Some ids of documents and of requests. The sixth key is the index of the latter. `ARGV`: limit. */
export const BELONGINGS = reading(`
return {redis.call('ZRANGE', KEYS[2], 0, ARGV[1] - 1), redis.call('ZRANGE', KEYS[6], 0, ARGV[1] - 1)}
`);

/** Buries what is past due and forgets old tombstones. `KEYS` from the sixth: five for each id in `ARGV`. Answers how many. */
export const SWEEP = writing(
  BASE,
  WRITE,
  `
local now = clock()
local swept = 0
for i, id in ipairs(ARGV) do
  HEAD, JOURNAL, FRAMES, STATES, TURNS = unpack(KEYS, 5 * i + 1, 5 * i + 5)
  local isReadable, head, gone, isDue = pcall(find, id, now)
  if not isReadable then head, gone, isDue = nil, {'damaged'}, false end
  if isDue then
    bury(id, gone, now)
    swept = swept + 1
  elseif head then
    -- Renewed meanwhile, or in an index that is not true to it.
    call('ZREM', GRAVES, id)
    if head.expiresAt then call('ZADD', EXPIRY, head.expiresAt, id) else call('ZREM', EXPIRY, id) end
  elseif tonumber(call('ZSCORE', GRAVES, id) or 'inf') <= now then
    call('ZREM', GRAVES, id)
    call('ZREM', DOCUMENTS, id)
    call('HDEL', MARKS, id)
    local forgotten = call('HGET', USER, 'forgotten') or 0
    call('HSET', USER, 'forgotten', int(math.max(gone[NUMBER] or 0, forgotten)))
    swept = swept + 1
  else
    call('ZREM', EXPIRY, id) -- what is damaged, or torn by an eviction, stays so, and is in nobody's way
  end
end
return {int(swept)}
`,
);

/**
 * Removes some of a user's belongings, and the rest with the last of them. `KEYS[6]`: the index of requests; five where a
 * document is staged; then five for each document, then one for each request.
 * `ARGV`: how many documents, their ids, the requests' ids. Answers how many were alive, and how many belongings are left.
 */
export const PURGE = writing(`
local call = redis.call
local live = 0
local documents = tonumber(ARGV[1])
for i = 1, documents do
  local id = ARGV[i + 1]
  local keys = {unpack(KEYS, 5 * i + 7, 5 * i + 11)}
  local mark = call('HGET', KEYS[4], id)
  call('UNLINK', unpack(keys))
  if not mark or string.sub(mark, 1, 5) == 'live ' then live = live + 1 end
  for index = 2, 5 do call(index == 4 and 'HDEL' or 'ZREM', KEYS[index], id) end
end
for i = documents + 2, #ARGV do
  call('UNLINK', KEYS[10 + 4 * documents + i])
  call('ZREM', KEYS[6], ARGV[i])
end
if live > 0 then call('HINCRBY', KEYS[1], 'live', -live) end
local left = call('ZCARD', KEYS[2]) + call('ZCARD', KEYS[6])
if left == 0 then call('UNLINK', unpack(KEYS, 1, 11)) end
redis.pcall('PUBLISH', KEYS[1], '')
return {tostring(live), tostring(left)}
`);
