/**
 * The scripts that take whole documents in.
 *
 * A small one comes in one call. A large one is staged before, some of it per call, under keys of its own that end by
 * themselves, and the last call only renames them. Its sequence numbers must be known when it is staged, so they leap ahead
 * of the user's: others may write meanwhile, and if they come that far it begins anew.
 *
 * @module
 */

import { BASE } from "./lua_base.ts";
import { JOURNAL } from "./lua_journal.ts";
import { KEYFRAMES, WRITE } from "./lua_write.ts";
import { writing } from "./script.ts";

/** How long what is staged is kept after the last call, in milliseconds. */
const STAGED_MS = 600_000;

/** Items, seven arguments each: `VERSION-0` and an entry, or `VERSION-1` and the keyframe of that version. */
const LAY = `
local function layItems(from, base)
  for i = from, #ARGV, 7 do
    local item, writeId, number, turn, writer, offset, body = unpack(ARGV, i, i + 6)
    local version, part = string.match(item, '^(%d+)-(%d)$')
    if part == '1' then
      keep(version, writeId, number, body)
    elseif not entry(tonumber(version)) then
      put(version, writeId, number, turn, writer, int(base + version), offset, body)
      indexTurn(turn, version)
    end
  end
end
`;

/** Stages items. The keys of the document are those of the stage. `ARGV`: who, first version (or empty, after the first call), leap, items. */
export const STAGE = writing(
  BASE,
  JOURNAL,
  WRITE,
  KEYFRAMES,
  LAY,
  `
local name, first = ARGV[1], ARGV[2]
local owner, base = unpack(call('HMGET', HEAD, 'name', 'base'))
if owner ~= name then
  if first == '' then return {'taken'} end
  call('UNLINK', unpack(KEYS, 6, 10))
  base = int((call('HGET', USER, 'seq') or 0) + ARGV[3] + 1 - first)
  call('HSET', HEAD, 'name', name, 'base', base)
end
layItems(4, base)
for i = 6, 10 do call('PEXPIRE', KEYS[i], ${STAGED_MS}) end
return {'staged'}
`,
);

/**
 * Takes a document in. `KEYS[11]` to `KEYS[15]`: the stage. `ARGV`: id, who, first version, whether it is staged (or empty), how many
 * arguments the head has, the head's fields, items.
 */
export const ADOPT = writing(
  BASE,
  JOURNAL,
  WRITE,
  KEYFRAMES,
  LAY,
  `
local id, name, first, isStaged, fields = unpack(ARGV, 1, 5)
if call('HGET', USER, 'adopted') == name then return {'adopted'} end
local there, gone = find(id, clock())
if there or gone[1] ~= 'absent' then return {'exists'} end
local seq = tonumber(call('HGET', USER, 'seq') or 0)
local base = seq + 1 - first
if isStaged ~= '' then
  local staged = call('HMGET', KEYS[11], 'name', 'base')
  if staged[1] ~= name or seq >= staged[2] + first then return {'taken'} end
  base = tonumber(staged[2])
end
if call('EXISTS', HEAD, JOURNAL, FRAMES, STATES, TURNS) > 0 then call('UNLINK', HEAD, JOURNAL, FRAMES, STATES, TURNS) end
if isStaged ~= '' then
  for i = 12, 15 do
    if call('EXISTS', KEYS[i]) > 0 then
      call('RENAME', KEYS[i], KEYS[i - 5])
      call('PERSIST', KEYS[i - 5])
    end
  end
  call('UNLINK', KEYS[11])
else
  layItems(6 + fields, base)
end
local head = {}
for i = 6, 5 + fields, 2 do head[ARGV[i]] = ARGV[i + 1] end
head.createdSeq, head.seq = int(base + first), int(base + head.version)
lay(head)
call('HSET', USER, 'seq', head.seq, 'adopted', name)
call('HINCRBY', USER, 'live', 1)
call('ZADD', DOCUMENTS, head.seq, id)
if head.expiresAt then expire(id, head) end
tell()
return {'adopted'}
`,
);

/** Takes in what is left of a document. `ARGV`: id, who, status, when it ended, days to live (or `-`), kind. */
export const ADOPT_TOMBSTONE = writing(
  BASE,
  WRITE,
  `
local id, name, status, goneAt, ttlDays, kind = unpack(ARGV)
if call('HGET', USER, 'adopted') == name then return {'adopted'} end
local now = clock()
local there, gone = find(id, now)
if there or gone[1] ~= 'absent' then return {'exists'} end
local seq = int((call('HGET', USER, 'seq') or 0) + 1)
call('HSET', USER, 'seq', seq, 'adopted', name)
call('ZADD', DOCUMENTS, seq, id)
call('ZADD', GRAVES, now + TOMBSTONE_MS, id)
mark(id, status, goneAt, ttlDays, kind, seq, '-', name, '0')
tell()
return {'adopted'}
`,
);
