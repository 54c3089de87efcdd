/**
 * Lua that reads a journal.
 *
 * @module
 */

import { ON_ENTRY } from "../../document/keyframe.ts";

/** The journal: entries as Redis answers them, places in it, and the least that leads to a version. */
export const JOURNAL = `
-- Where the values lie in an entry's text, see packed.ts
local AT, SEQ, TURN, WRITE_ID, OFFSET = 1, 2, 3, 4, 5

local function part(of, number)
  local parts = {string.match(of[2][2], '^(%S+) (%S+) (%S+) (%S+) (%S+) ')}
  return parts[number]
end

local function versionOf(entry)
  return tonumber(string.match(entry[1], '^%d+'))
end

local function entries(from, to)
  if to < 1 or to < from then return {} end
  return call('XRANGE', JOURNAL, int(math.max(from, 1)) .. '-0', int(to) .. '-0')
end

local function entry(version)
  return entries(version, version)[1]
end

-- An entry without its body
local function stamp(of)
  return of and {of[1], of[2][2]}
end

-- The last entry whose number is not beyond the limit. All of them only ever grow.
local function search(head, field, limit)
  local first = call('XRANGE', JOURNAL, '-', '+', 'COUNT', 1)[1]
  if not first then return nil end
  local low, high = versionOf(first) - 1, tonumber(head.version)
  while low < high do
    local middle = math.ceil((low + high) / 2)
    local at = entry(middle)
    if at and tonumber(part(at, field)) <= limit then low = middle else high = middle - 1 end
  end
  return entry(low)
end

local function place(head, name, value)
  if name == 'head' then return entry(tonumber(head.version)) end
  if name == 'version' then return entry(value) end
  if name == 'time' then return search(head, AT, value) end
  if name == 'seq' then return search(head, SEQ, value) end
  if name == 'offset' then return search(head, OFFSET, value) end
  local last = call('ZREVRANGEBYSCORE', TURNS, int(value), '-inf', 'LIMIT', 0, 1)[1]
  -- What was written before any turn was named is not in the index.
  if not last then return search(head, TURN, value) end
  return entry(tonumber(last))
end

-- Version, bytes and write id of the newest keyframe at or before a version
local function frameAt(version)
  local member = call('ZREVRANGEBYSCORE', FRAMES, int(version), '-inf', 'LIMIT', 0, 1)[1]
  if not member then return nil end
  return string.match(member, '^(%d+) (%d+) (.*)$')
end

-- Whether what is held is part of this journal, not beyond the target, and no dearer than the keyframe
local function isCheaper(heldVersion, heldWriteId, target, frame, frameBytes)
  if heldVersion >= versionOf(target) then return false end
  if heldVersion == 0 then return true end
  local held = entry(heldVersion)
  if not held or part(held, WRITE_ID) ~= heldWriteId then return false end
  if not frame or frame <= heldVersion then return true end
  local past = entry(frame)
  return not past or part(past, OFFSET) - part(held, OFFSET) <= tonumber(frameBytes)
end

local function alreadyHeld(head)
  return {'found', toValues(head), 'held', 'held', {}}
end

-- The way from what is held (version -1: nothing), from a keyframe or from the start to the target
local function lead(head, target, heldVersion, heldWriteId)
  if not target then return {'found', toValues(head), false, 'nothing', {}} end
  local version = versionOf(target)
  if heldVersion == version and heldWriteId == part(target, WRITE_ID) then return alreadyHeld(head) end
  local frame, frameBytes, frameWriteId
  if heldVersion ~= 0 then frame, frameBytes, frameWriteId = frameAt(version) end
  if heldVersion >= 0 and isCheaper(heldVersion, heldWriteId, target, frame and tonumber(frame), frameBytes) then
    local onto = heldVersion == 0 and 'nothing' or 'held'
    return {'found', toValues(head), stamp(target), onto, entries(heldVersion + 1, version)}
  end
  local state = frame and call('HGET', STATES, frame)
  if not state then return {'found', toValues(head), stamp(target), 'nothing', entries(1, version)} end
  local from = string.sub(state, 1, ${ON_ENTRY.length}) == '${ON_ENTRY}' and tonumber(frame) or frame + 1
  return {'found', toValues(head), stamp(target), {frame, frameWriteId, frameBytes, state}, entries(from, version)}
end
`;
