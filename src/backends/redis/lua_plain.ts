/**
 * Lua for the append that nearly all are: one entry on the version that is current, and nothing besides.
 *
 * @module
 */

import { KNOWN_FIELDS } from "./known.ts";

/** How many arguments it has. */
export const PLAIN_ARGUMENTS = 5;

/**
 * Makes few calls and no closures, for it runs more often than everything else together. What it does not care for it
 * answers with nothing, before the first write.
 *
 * The caller knows the head (see `known.ts`): if it is as it was, only the time and the number of the entry are news.
 */
export const PLAIN = `
-- Version, turn, oldest, bytes, offset and write id of the entry; its writer, and after a NUL its title, if it has one.
local function parse(news, writer)
  local next, turn, oldest, bytes, offset, draft = string.match(news, '^(%d+) (%d+) (%d+) (%d+) (%d+) (.*)$')
  local nul = string.find(writer, '\\0', 1, true)
  if nul then return next, turn, oldest, bytes, offset, draft, string.sub(writer, 1, nul - 1), string.sub(writer, nul + 1) end
  return next, turn, oldest, bytes, offset, draft, writer
end

-- Answers when it was written and its number in the user's order; or nothing, and has done nothing.
local function plain(HEAD, JOURNAL, TURNS, now, before, known, body, next, turn, oldest, bytes, offset, draft, writer, title)
  local call = redis.call
  local was = redis.pcall('HMGET', HEAD, ${KNOWN_FIELDS.map((name) => `'${name}'`).join(", ")}, 'updatedAt')
  -- One among many that is damaged must not end the script.
  if was.err or not (was[1] and was[2] and was[5] and was[6]) then return nil end
  local expiresAt, updatedAt = was[3], tonumber(was[7] or '')
  if was[1] .. ' ' .. was[2] .. ' ' .. (expiresAt or '-') .. ' ' .. (was[4] or '-') .. ' ' .. was[5] .. ' ' .. was[6] ~= known
    or not updatedAt or expiresAt and tonumber(expiresAt) <= now then
    return nil
  end
  local at = string.format('%.0f', updatedAt > now and updatedAt or now)
  local seq = string.format('%.0f', before + 1)
  local added = redis.pcall('XADD', JOURNAL, next .. '-0', 'writeId', draft, 'at', at, 'turn', turn,
    'writer', writer, 'seq', seq, 'offset', offset, 'body', body)
  if type(added) == 'table' and added.err then return nil end
  call('HSET', HEAD, 'version', next, 'writeId', draft, 'updatedAt', at, 'writer', writer,
    'bytes', bytes, 'oldest', oldest, 'offset', offset, 'seq', seq)
  if title then call('HSET', HEAD, 'title', title) end
  if turn ~= was[2] then
    call('HSET', HEAD, 'turn', turn)
    if was[2] == '0' then call('HSET', HEAD, 'firstTurn', turn) end
  end
  if TURNS then
    call('ZREMRANGEBYSCORE', TURNS, turn, turn)
    call('ZADD', TURNS, turn, next)
    if expiresAt then call('PEXPIREAT', TURNS, expiresAt) end -- it may have come into being just now
  end
  return at .. ' ' .. seq, seq
end
`;
