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
if save() then expire(id, head) end
return {'touched', toValues(head)}
`,
);

/**
 * Deletes a document. `KEYS[12]`: where its head stays for a moment; `KEYS[13]`: its request, if it has one. `ARGV`: id,
 * expected version (or empty), a name for this deletion, then request id, fingerprint and meta.
 */
export const REMOVE = writing(
  BASE,
  JOURNAL,
  WRITE,
  REQUESTS,
  `
local id, expected, name = ARGV[1], ARGV[2], ARGV[3]
local REMOVED = KEYS[12]
if KEYS[13] then
  local replayed = recall(KEYS[13])
  if replayed then return replayed end
end
local now = clock()
local head, gone = findLive(id, now)
if not head then
  local removed = gone[2] == 'deleted' and toTable(call('HGETALL', REMOVED)) or {}
  if removed.removal ~= name then return gone end
  return {'removed', toValues(removed)}
end
if expected ~= '' and expected ~= head.version then
  return {'lost', lead(head, entry(tonumber(head.version)), -1, '')}
end
local goneAt = int(math.max(now, tonumber(head.updatedAt)))
bury(id, 'deleted', goneAt, head.ttlDays or '-', head.kind, now)
local title = head.title
head.title = nil
head.removal = name
call('DEL', REMOVED)
call('HSET', REMOVED, unpack(flatten(head)))
call('PEXPIRE', REMOVED, 60000)
head.title = title
head.removal = nil
if KEYS[13] then remember(KEYS[13], ARGV[4], ARGV[5], ARGV[6], id, head, now) end
return {'removed', toValues(head)}
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
if not first or first[2][WRITE_ID] ~= writeId then return {'done'} end
local framed = entry(tonumber(version))
keep(version, frameWriteId, bytes, state)
if framed and tonumber(version) > tonumber(head.baseVersion) then
  set(head, 'baseVersion', version)
  set(head, 'baseBytes', bytes)
  set(head, 'baseOffset', framed[2][OFFSET])
end
set(head, 'oldest', oldest)
save()
reclaim(oldest)
if head.expiresAt then
  for _, key in ipairs({FRAMES, STATES}) do call('PEXPIREAT', key, head.expiresAt) end
end
return {'done'}
`,
);
