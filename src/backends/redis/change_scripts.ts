/**
 * The scripts that change a document without an entry, or end it.
 *
 * @module
 */

import { BASE } from "./lua_base.ts";
import { JOURNAL } from "./lua_journal.ts";
import { CHANGES, KEYFRAMES, REQUESTS, WRITE } from "./lua_write.ts";
import { writing } from "./script.ts";

/** Changes the time to live or the turn. `ARGV`: id, days to live (or `keep`, `none`, `last`), turn. */
export const TOUCH = writing(
  BASE,
  WRITE,
  CHANGES,
  `
local id, ttlDays, turn = ARGV[1], ARGV[2], ARGV[3]
local now = clock()
local head, gone = findLive(id, now)
if not head then return gone end
if ttlDays == 'last' then ttlDays = head.ttlDays or 'none' end
setLife(head, ttlDays, now)
if tonumber(turn) > tonumber(head.turn) then set(head, 'turn', turn) end
if head.firstTurn == '0' then set(head, 'firstTurn', head.turn) end
if save(head) then expire(id, head) end
return {'touched', toValues(head)}
`,
);

/**
 * Deletes a document. `KEYS[12]`: its request, if it has one. `ARGV`: id, expected version (or empty), the write id of the
 * end, then request id, fingerprint and meta.
 */
export const REMOVE = writing(
  BASE,
  JOURNAL,
  WRITE,
  REQUESTS,
  `
local id, expected, writeId = ARGV[1], ARGV[2], ARGV[3]
local now = clock()
local head, gone, isDue = find(id, now)
-- Before the request ids, as an append: a record would tell less.
if gone and gone[END_ID] == writeId then return {'removed', gone[LAST_VERSION]} end
local replayed = KEYS[12] and recall(KEYS[12])
if replayed then return replayed end
if isDue then bury(id, gone, now) end
if not head then return gone end
if expected ~= '' and expected ~= head.version then
  return {'lost', lead(head, entry(tonumber(head.version)), -1, '')}
end
local goneAt = int(math.max(now, tonumber(head.updatedAt)))
local firstWriteId = call('HGET', HEAD, 'firstWriteId') or '-'
bury(id, {'gone', 'deleted', goneAt, head.ttlDays or '-', head.kind, '', head.createdSeq, writeId, head.version, firstWriteId},
  now)
if KEYS[12] then remember(KEYS[12], ARGV[4], ARGV[5], ARGV[6], id, head, now) end
return {'removed', head.version}
`,
);

/** Moves `oldest` up. `ARGV`: id, version and write id of the oldest, then those of the keyframe, its bytes and its body. */
export const TRIM = writing(
  BASE,
  JOURNAL,
  WRITE,
  KEYFRAMES,
  CHANGES,
  `
local id, oldest, writeId, version, frameWriteId, bytes, state = unpack(ARGV)
local head = find(id, clock())
if not head or tonumber(head.oldest) >= tonumber(oldest) then return {'done'} end
local first = entry(tonumber(oldest))
if not first or part(first, WRITE_ID) ~= writeId then return {'done'} end
local framed = entry(tonumber(version))
keep(version, frameWriteId, bytes, state)
if framed and tonumber(version) > tonumber(head.baseVersion) then
  set(head, 'baseVersion', version)
  set(head, 'baseBytes', bytes)
  set(head, 'baseOffset', part(framed, OFFSET))
end
set(head, 'oldest', oldest)
save(head)
reclaim(oldest)
if head.expiresAt then
  for _, key in ipairs({FRAMES, STATES}) do call('PEXPIREAT', key, head.expiresAt) end
end
return {'done'}
`,
);
