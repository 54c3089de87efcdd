/**
 * The script that appends to a journal.
 *
 * @module
 */

import { BASE } from "./lua_base.ts";
import { JOURNAL } from "./lua_journal.ts";
import { PLAIN, PLAIN_ARGUMENTS } from "./lua_plain.ts";
import { CHANGES, KEYFRAMES, REQUESTS, WRITE } from "./lua_write.ts";
import { writing } from "./script.ts";

/**
 * Appends entries. `KEYS` from the twelfth: one per request, in order. `ARGV`: id, expected version, write id and turn,
 * bytes, oldest, keyframe version (or empty), write id, bytes and body; then ten for each step: write id (empty: no
 * entry), writer, body, offset, turn, title, days to live, request id (`=` before it, or empty), fingerprint, meta. A plain
 * one has those of `APPEND_EACH` instead, then the write id and turn that are expected, and no keys for requests.
 */
export const APPEND = writing(
  PLAIN,
  `
local ARGV = ARGV
if #ARGV == ${PLAIN_ARGUMENTS + 2} then
  local call = redis.call
  local named, known, rest, stamp, body, writeId, turn = unpack(ARGV)
  local id, title = parse(named)
  local answer, seq = plain(KEYS[1], KEYS[6], KEYS[7], hasTurn(stamp) and KEYS[10], clock(), nil, known, rest, stamp, body, title)
  if answer then
    call('ZADD', KEYS[2], seq, id)
    redis.pcall('PUBLISH', KEYS[1], '')
    return answer
  end
  local next, bytes, oldest = string.match(rest, '^(%d+) %S+ %S+ %S+ (%d+) (%d+)')
  local entryTurn, draft, offset, writer = string.match(stamp, '^(%d+) (%S+) (%d+) (.*)$')
  ARGV = {id, string.format('%.0f', next - 1), writeId, turn, bytes, oldest, '', '', '', '', draft, writer, body, offset,
    entryTurn, title and '=' .. title or '', 'keep', '', '', ''}
end

-- Nothing has happened yet.
`,
  BASE,
  JOURNAL,
  WRITE,
  REQUESTS,
  KEYFRAMES,
  CHANGES,
  `
local id, version, writeId, turn, bytes, oldest = unpack(ARGV, 1, 6)
local steps, drafts, requests = (#ARGV - 10) / 10, 0, 11
local last, replayed
for step = 1, steps do
  local at = 10 * step
  local draft = ARGV[at + 1]
  if draft ~= '' then
    drafts = drafts + 1
    last = draft
  end
  if ARGV[at + 8] ~= '' then
    requests = requests + 1
    local answer, record = recall(KEYS[requests])
    -- A record of this very write tells that it was sent twice, which the journal can say better.
    if record and (record.writeId ~= draft or record.documentId ~= id) then return answer end
    replayed = replayed or answer
  end
end

local now = clock()
local head, gone = findLive(id, now)
if not head then return replayed or gone end
if head.version ~= version or head.writeId ~= writeId or head.turn ~= turn then
  local since = drafts > 0 and entries(version + 1, version + drafts) or {}
  if drafts > 0 and #since == drafts and part(since[drafts], WRITE_ID) == last then
    for i = 1, drafts do since[i] = stamp(since[i]) end
    return {'appended', toValues(head), since}
  end
  return replayed or {'lost', lead(head, entry(tonumber(head.version)), tonumber(version), writeId)}
end

local seq = call('HGET', USER, 'seq') or 0
local at = int(math.max(now, tonumber(head.updatedAt)))
local stamps = {}
requests = 11
for step = 1, steps do
  local draft, writer, body, offset, named, title, ttlDays, request, fingerprint, meta =
    unpack(ARGV, 10 * step + 1, 10 * step + 10)
  if draft ~= '' then
    seq = seq + 1
    local entryTurn = tonumber(named) > tonumber(head.turn) and named or head.turn
    local entryVersion = int(head.version + 1)
    stamps[#stamps + 1] = put(entryVersion, draft, at, entryTurn, writer, int(seq), offset, body)
    indexTurn(entryTurn, entryVersion)
    set(head, 'version', entryVersion)
    set(head, 'writeId', draft)
    set(head, 'updatedAt', at)
    set(head, 'writer', writer)
    set(head, 'turn', entryTurn)
    if head.firstTurn == '0' then set(head, 'firstTurn', entryTurn) end
    if title ~= '' then set(head, 'title', string.sub(title, 2)) end
    setLife(head, ttlDays, at)
    set(head, 'offset', offset)
    set(head, 'seq', int(seq))
  end
  if request ~= '' then
    requests = requests + 1
    remember(KEYS[requests], string.sub(request, 2), fingerprint, meta, id, head, now)
  end
end
if drafts == 0 then return {'appended', toValues(head), stamps} end

set(head, 'bytes', bytes)
if tonumber(oldest) > tonumber(head.oldest) then set(head, 'oldest', oldest) end
if ARGV[7] ~= '' then
  set(head, 'baseVersion', head.version)
  set(head, 'baseBytes', bytes)
  set(head, 'baseOffset', head.offset)
  keep(ARGV[7], ARGV[8], ARGV[9], ARGV[10])
  reclaim(head.oldest)
end
local isRenewed = save(head)
call('HSET', USER, 'seq', int(seq))
call('ZADD', DOCUMENTS, int(seq), id)
if isRenewed then
  expire(id, head)
elseif head.expiresAt then
  -- These may have come into being just now.
  for _, key in ipairs({TURNS, FRAMES, STATES}) do call('PEXPIREAT', key, head.expiresAt) end
end
tell()
return {'appended', toValues(head), stamps}
`,
);

/**
 * The same of one document, with the keyframe of the entry. `KEYS`: the ten of every script about a document. `ARGV`: the
 * five of the entry, then the keyframe's row in the index and its body.
 */
export const APPEND_FRAMED = writing(
  PLAIN,
  `
local named, known, rest, stamp, body, row, state = unpack(ARGV)
local id, title = parse(named)
local answer, number = plain(KEYS[1], KEYS[6], KEYS[7], hasTurn(stamp) and KEYS[10], clock(), nil, known, rest, stamp, body, title)
if not answer then return '' end
local version, expiresAt, oldest = string.match(rest, '^(%d+) (%S+) %S+ %S+ %S+ (%d+)')
redis.call('ZREMRANGEBYSCORE', KEYS[8], version, version)
redis.call('ZADD', KEYS[8], version, row)
redis.call('HSET', KEYS[9], version, state)
if expiresAt ~= '-' then -- these may have come into being just now
  redis.call('PEXPIREAT', KEYS[8], expiresAt)
  redis.call('PEXPIREAT', KEYS[9], expiresAt)
end
redis.call('ZADD', KEYS[2], number, id)
redis.pcall('PUBLISH', KEYS[1], '')
if oldest == '1' then return answer end
`,
  BASE,
  JOURNAL,
  KEYFRAMES,
  `
reclaim(oldest)
return answer
`,
);

/**
 * Appends to several documents of a user, one plain entry each; every one stands for itself. `KEYS`: user, documents, then
 * head and journal of each, and its turns where its entry is of one. `ARGV`: five for each document: id, and after a NUL
 * its title if there is a new one; the text of its head; what the two texts will be (see `packed.ts`); the body. Answers when each was written and its number, parted by
 * commas; nothing where nothing was done: the script that can do more is to be asked.
 */
export const APPEND_EACH = writing(
  PLAIN,
  `
local at = clock()
if #ARGV == ${PLAIN_ARGUMENTS} then
  local stamp, id, title = ARGV[4], parse(ARGV[1])
  local answer, number =
    plain(KEYS[1], KEYS[3], KEYS[4], hasTurn(stamp) and KEYS[5], at, nil, ARGV[2], ARGV[3], stamp, ARGV[5], title)
  if not answer then return '' end
  redis.call('ZADD', KEYS[2], number, id)
  redis.pcall('PUBLISH', KEYS[1], '')
  return answer
end
local seq = redis.call('HGET', KEYS[1], 'seq') or 0
local answers, order, key = {}, {}, 3
for i = 1, #ARGV, ${PLAIN_ARGUMENTS} do
  local stamp, id, title = ARGV[i + 3], parse(ARGV[i])
  local TURNS = hasTurn(stamp) and KEYS[key + 2]
  local answer, number = plain(KEYS[1], KEYS[key], KEYS[key + 1], TURNS, at, seq, ARGV[i + 1], ARGV[i + 2], stamp,
    ARGV[i + 4], title)
  key = key + (TURNS and 3 or 2)
  answers[#answers + 1] = answer or ''
  if answer then
    seq = number
    order[#order + 1] = number
    order[#order + 1] = id
  end
end
if #order > 0 then
  redis.call('HSET', KEYS[1], 'seq', seq)
  redis.call('ZADD', KEYS[2], unpack(order))
  redis.pcall('PUBLISH', KEYS[1], '')
end
return table.concat(answers, ',')
`,
);
