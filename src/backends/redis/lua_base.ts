/**
 * Lua that every script about documents begins with. Bodies are opaque in it, times come from the server's clock, and every
 * number is kept as its decimal text.
 *
 * @module
 */

import { PACKED_FIELDS } from "./packed.ts";

/**
 * The fields of a head's hash, in the order in which they are read and answered: its text (see `packed.ts`), and what does
 * not change with every write. A title may be absent.
 */
export const HEAD_FIELDS = ["now", "kind", "createdAt", "createdSeq", "title"] as const;

/** The same, as Lua. */
export const FIELDS = HEAD_FIELDS.map((name) => `'${name}'`).join(", ");

const PACKED = PACKED_FIELDS.map((name) => `'${name}'`).join(", ");
const PATTERN = `^${"(%S+) ".repeat(PACKED_FIELDS.length - 1)}(.*)$`;

/** Keys, the clock, heads, and what a document is: alive, gone, past due, or never there. */
export const BASE = `
local call = redis.call
local USER, DOCUMENTS, EXPIRY, MARKS, GRAVES = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local HEAD, JOURNAL, FRAMES, STATES, TURNS = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]

local FIELDS = {${FIELDS}}
local PACKED = {${PACKED}}
-- Where the values lie in what is answered of a document that is gone. The last two are not asked for outside of scripts.
local STATUS, GONE_AT, TTL_DAYS, KIND, NUMBER, CREATED_SEQ, END_ID, LAST_VERSION, FIRST_WRITE_ID = 2, 3, 4, 5, 6, 7, 8, 9, 10

-- tostring() would write large numbers as 1e+15
local function int(number)
  return string.format('%.0f', number)
end

local function clock()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function pack(head)
  local values = {}
  for i, name in ipairs(PACKED) do values[i] = head[name] or '-' end
  return table.concat(values, ' ')
end

-- From the values of FIELDS; nothing if the text is none.
local function unpackHead(values)
  local parts = {string.match(values[1], '${PATTERN}')}
  if not parts[1] then return nil end
  local head = {}
  for i, name in ipairs(PACKED) do head[name] = parts[i] ~= '-' and parts[i] or nil end
  head.writer = parts[#PACKED]
  for i = 2, #FIELDS do head[FIELDS[i]] = values[i] or nil end
  return head
end

local function toValues(head)
  local values = {pack(head)}
  for i = 2, #FIELDS do values[i] = head[FIELDS[i]] or false end
  return values
end

-- The head of a live document; or nil, what to answer instead, and whether it is past due and not buried yet.
local function find(id, now)
  local values = call('HMGET', HEAD, unpack(FIELDS))
  local isThere = values[1]
  if isThere then
    local head = unpackHead(values)
    if not head then return nil, {'damaged'} end
    if not (head.expiresAt and tonumber(head.expiresAt) <= now) then return head end
  end
  local mark = call('HGET', MARKS, id)
  local seq = call('ZSCORE', DOCUMENTS, id)
  if not mark or not seq then
    if isThere or mark or seq then return nil, {'damaged'} end
    return nil, {'absent'}
  end
  local status, goneAt, ttlDays, kind, createdSeq, firstWriteId, writeId, version =
    string.match(mark, '^(%a+) (%d+) (%S+) (%S+) (%d+) (%S+) (%S+) (%d+)$')
  local gone = {'gone', status, goneAt, ttlDays, kind, seq, createdSeq, writeId, version, firstWriteId}
  if status ~= 'live' then return nil, gone end
  -- Only its time to live may end a document: one that is lost before was evicted.
  if tonumber(goneAt) > now then return nil, {'damaged'} end
  gone[STATUS] = 'expired'
  return nil, gone, true
end
`;
