/**
 * The scripts that look for what is wrong, each as of one moment.
 *
 * @module
 */

import { BASE } from "./lua_base.ts";
import { reading } from "./script.ts";

/** What is counted of a user: live, sequence number, documents, tombstones, newest place. */
export const COUNTS = reading(`
local call = redis.call
local newest = call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
return {call('HGET', KEYS[1], 'live'), call('HGET', KEYS[1], 'seq'), call('ZCARD', KEYS[2]), call('ZCARD', KEYS[5]),
  newest[2] or '0'}
`);

/**
 * All that is kept of some documents beside their journals. `KEYS` from the sixth: five for each id in `ARGV`. Answers the
 * time, then for each: the head, its mark, its places among documents, what ends and tombstones, how long each of its keys
 * has to live, the versions of which there are keyframes and bodies of keyframes, and the write id of version 1.
 */
export const FACTS = reading(
  BASE,
  `
local facts = {int(clock())}
for i, id in ipairs(ARGV) do
  local keys = {unpack(KEYS, 5 * i + 1, 5 * i + 5)}
  local lives = {}
  for k = 1, 5 do lives[k] = call('PTTL', keys[k]) end
  facts[i + 1] = {call('HMGET', keys[1], unpack(FIELDS)), call('HGET', MARKS, id), call('ZSCORE', DOCUMENTS, id),
    call('ZSCORE', EXPIRY, id), call('ZSCORE', GRAVES, id), lives, call('ZRANGE', keys[3], 0, -1), call('HKEYS', keys[4]),
    call('HGET', keys[1], 'firstWriteId')}
end
return facts
`,
);

/**
 * Which of some names are in none of the user's indices. `KEYS[6]`: the index of requests; then the key of each, if it has one. `ARGV`:
 * for each `documents` or `requests`, and the name.
 */
export const STRAYS = reading(`
local strays = {}
for i = 1, #ARGV, 2 do
  local index = ARGV[i] == 'requests' and KEYS[6] or KEYS[2]
  if redis.call('EXISTS', KEYS[6 + (i + 1) / 2]) == 1 and not redis.call('ZSCORE', index, ARGV[i + 1]) then
    strays[#strays + 1] = tostring((i - 1) / 2)
  end
end
return strays
`);

/** Which of some ids are in an index and are no documents. `ARGV`: number of the index among the keys, then ids. */
export const INDEX_STRAYS = reading(`
local index, strays = tonumber(ARGV[1]), {}
for i = 2, #ARGV do
  if not redis.call('ZSCORE', KEYS[2], ARGV[i]) then
    local place = redis.call(index == 4 and 'HGET' or 'ZSCORE', KEYS[index], ARGV[i])
    if place then strays[#strays + 1] = ARGV[i] end
  end
end
return strays
`);

/** Which part of a document is there, the first of head, journal and so on. `KEYS`: its five. */
export const FIRST_PART = reading(`
for i = 1, 5 do
  if redis.call('EXISTS', KEYS[i]) == 1 then return {tostring(i)} end
end
return {}
`);
