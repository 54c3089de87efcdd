/**
 * The scripts that read one document, or one request.
 *
 * @module
 */

import { BASE } from "./lua_base.ts";
import { JOURNAL } from "./lua_journal.ts";
import { reading } from "./script.ts";

/** The head, and what leads to a version. `ARGV`: id, as, value, held version (-1: none), held write id. */
export const READ = reading(
  BASE,
  JOURNAL,
  `
local head, gone, isDue = find(ARGV[1], clock())
if isDue then gone[1] = 'due' end
if not head then return gone end
if ARGV[2] == 'head' and head.version == ARGV[4] and head.writeId == ARGV[5] then return alreadyHeld(head) end
return lead(head, place(head, ARGV[2], tonumber(ARGV[3])), tonumber(ARGV[4]), ARGV[5])
`,
);

/** The head, or what became of the document. `ARGV`: id. */
export const DOCUMENT = reading(
  BASE,
  `
local head, gone = find(ARGV[1], clock())
return head and {'found', toValues(head)} or gone
`,
);

/** Entries after a version. `ARGV`: id, after (-1: the last ones), limit. */
export const ENTRIES = reading(
  BASE,
  JOURNAL,
  `
local head, gone = find(ARGV[1], clock())
if not head then return gone end
local after, limit = tonumber(ARGV[2]), tonumber(ARGV[3])
local from = math.max((after < 0 and head.version - limit or after) + 1, tonumber(head.oldest))
return {'found', toValues(head), false, 'nothing', entries(from, math.min(from + limit - 1, tonumber(head.version)))}
`,
);

/** The stamp at a place. `ARGV`: id, name, value. */
export const LOCATE = reading(
  BASE,
  JOURNAL,
  `
local head, gone = find(ARGV[1], clock())
if not head then return gone end
return {'found', stamp(place(head, ARGV[2], tonumber(ARGV[3]))) or false}
`,
);

/** What is remembered of a request. */
export const RECALL = reading("return redis.call('HGETALL', KEYS[1])");
