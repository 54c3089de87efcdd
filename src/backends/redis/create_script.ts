/**
 * The script that makes a document.
 *
 * @module
 */

import { BASE } from "./lua_base.ts";
import { JOURNAL } from "./lua_journal.ts";
import { REQUESTS, WRITE } from "./lua_write.ts";
import { writing } from "./script.ts";

/**
 * Makes a document. `KEYS[12]`: its request, if it has one. `ARGV`: id, kind, bytes, quota, write id, writer, body, offset,
 * turn, title (`=` before it, or empty), days to live (or `keep`), then request id, fingerprint and meta.
 */
export const CREATE = writing(
  BASE,
  JOURNAL,
  WRITE,
  REQUESTS,
  `
local id, kind, bytes, quota, writeId, writer, body, offset, turn, title, ttlDays = unpack(ARGV, 1, 11)
local replayed, record
if KEYS[12] then replayed, record = recall(KEYS[12]) end
-- A record of this very write tells that it was sent twice, which the document can say better.
if record and (record.writeId ~= writeId or record.documentId ~= id) then return replayed end
local now = clock()
local head, gone, isDue = find(id, now)
if head then
  local first = entry(1)
  if first and part(first, WRITE_ID) == writeId then return {'appended', toValues(head), {stamp(first)}} end
  return replayed or {'exists', lead(head, entry(tonumber(head.version)), -1, '')}
end
if replayed then return replayed end
if gone[1] == 'damaged' then return gone end
if gone[FIRST_WRITE_ID] == writeId then return isDue and bury(id, gone, now) or gone end
local held = (call('HGET', USER, 'live') or 0) - call('ZCOUNT', EXPIRY, '-inf', now)
if held >= tonumber(quota) then return {'quota', int(held)} end

local seq = call('HGET', USER, 'seq') or 0
local forgotten = gone[NUMBER]
if isDue then
  seq = seq + 1 -- its expiry takes one
  forgotten = seq
end
seq = int(seq + 1)
if call('EXISTS', HEAD, JOURNAL, FRAMES, STATES, TURNS) > 0 then call('UNLINK', HEAD, JOURNAL, FRAMES, STATES, TURNS) end
local at = int(now)
local first = put(1, writeId, at, turn, writer, seq, offset, body)
indexTurn(turn, '1')
head = {kind = kind, version = '1', writeId = writeId, createdAt = at, updatedAt = at, writer = writer, turn = turn,
  firstTurn = turn, bytes = bytes, oldest = '1', offset = offset, baseVersion = '1', baseBytes = bytes,
  baseOffset = offset, seq = seq, createdSeq = seq}
if title ~= '' then head.title = string.sub(title, 2) end
if ttlDays ~= 'keep' then
  head.ttlDays = ttlDays
  head.expiresAt = expiryOf(ttlDays, now)
end
call('HSET', HEAD, 'firstWriteId', writeId)
lay(head)
call('HSET', USER, 'seq', seq)
if not isDue then call('HINCRBY', USER, 'live', 1) end
if forgotten then
  call('HSET', USER, 'forgotten', int(math.max(forgotten, call('HGET', USER, 'forgotten') or 0)))
  call('ZREM', GRAVES, id)
  call('ZREM', EXPIRY, id)
  call('HDEL', MARKS, id)
end
call('ZADD', DOCUMENTS, seq, id)
if head.expiresAt then expire(id, head) end
if KEYS[12] then remember(KEYS[12], ARGV[12], ARGV[13], ARGV[14], id, head, now) end
tell()
return {'appended', toValues(head), {first}}
`,
);
