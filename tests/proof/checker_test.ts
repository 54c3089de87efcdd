import { assert, assertEquals } from "@std/assert";
import { check } from "./checker.ts";
import type { Call, History, Operation, Recorded, Result, Seen } from "./history.ts";
import { BLANK, digest, edited } from "./reference.ts";

const handle = "cart_1";
const at = (second: number) => new Date(Date.UTC(2026, 6, 1, 12, 0, second)).toISOString();
const states = [
  BLANK,
  edited(BLANK, [{ append: "laptop" }]),
  edited(BLANK, [{ append: "laptop" }, { append: "phone" }]),
];

/** What a call answers that met a version. */
function met(version: number, writer: string, current = version): Result {
  return { is: "version", handle, version, digest: digest(states[version - 1]), current, writer, at: at(version) };
}

function operation(label: string, invokedAt: number, call: Call, result: Result): Operation {
  return { label, process: "p0", invokedAt, returnedAt: invokedAt + 5, call, result };
}

const mint = operation("mint", 0, { do: "mint", state: BLANK }, met(1, "mint"));
const laptop = operation("laptop", 10, { do: "patch", handle, edits: [{ append: "laptop" }] }, met(2, "laptop"));
const phone = operation("phone", 20, { do: "patch", handle, edits: [{ append: "phone" }] }, met(3, "phone"));
const read = operation("read", 30, { do: "get", handle }, met(3, "phone"));
const entries: readonly Recorded[] = [
  { version: 1, writer: "mint", at: at(1), turn: 0, patch: [{ op: "add", path: "", value: BLANK }] },
  { version: 2, writer: "laptop", at: at(2), turn: 0, patch: [{ op: "add", path: "/items/-", value: "laptop" }] },
  { version: 3, writer: "phone", at: at(3), turn: 0, patch: [{ op: "add", path: "/items/-", value: "phone" }] },
];
const events: readonly Seen[] = entries.map(({ version, writer, at }, i) => ({
  type: "change",
  handle,
  version,
  writer,
  at,
  seenAt: 10 * i + 6,
}));

/** Three versions, a read and a listener, and what is otherwise in it. */
function history(
  operations: readonly Operation[] = [mint, laptop, phone, read],
  changed: { entries?: readonly Recorded[]; events?: readonly Seen[] } = {},
): History {
  const own = changed.entries ?? entries;
  const journals = [{ handle, entries: own, digest: digest(states[Math.min(own.length, 3) - 1]) }];
  const watches = [{ name: "watch", since: -1, events: changed.events ?? events, isComplete: true }];
  return { operations, journals, watches, slack: 0 };
}

const replaced = (operation: Operation, by: Partial<Operation>) =>
  [mint, laptop, phone, read].map((each) => each === operation ? { ...each, ...by } : each);
const gone: Result = { is: "refused", code: "handle_not_found" };

Deno.test("check: a history that one journal explains has no anomaly", () => {
  assertEquals(check(history()), []);
  assertEquals(check(history(replaced(phone, { result: { is: "unknown" }, returnedAt: Infinity }))), []);
  const revoke = operation("revoke", 40, { do: "revoke", handle, expect: 3 }, { is: "revoked", version: 3 });
  const late = operation("late", 50, { do: "get", handle }, gone);
  assertEquals(check({ ...history([mint, laptop, phone, read, revoke, late]), journals: [] }), []);
});

const BROKEN: readonly (readonly [rule: string, what: string, History])[] = [
  ["acknowledged", "a write whose version is another's", history(replaced(laptop, { result: met(3, "phone") }))],
  [
    "refused",
    "a write that was refused and landed",
    history(replaced(phone, { result: { is: "refused", code: "backend_error" } })),
  ],
  ["known", "an entry that nobody asked for", history([mint, laptop, read])],
  [
    "at most once",
    "an entry that landed twice",
    history(undefined, { entries: [...entries, { ...entries[2], version: 4 }] }),
  ],
  ["contiguous", "a version that is left out", history(undefined, { entries: [entries[0], entries[2]] })],
  [
    "time",
    "an entry older than the one before",
    history(undefined, { entries: [entries[0], { ...entries[1], at: at(0) }, entries[2]] }),
  ],
  [
    "turn",
    "an entry of an earlier turn",
    history(undefined, { entries: [{ ...entries[0], turn: 2 }, ...entries.slice(1)] }),
  ],
  [
    "effect",
    "an entry that does something else",
    history(replaced(phone, { call: { do: "patch", handle, edits: [{ add: 1 }] } })),
  ],
  [
    "stale",
    "a save over another version than it named",
    history(replaced(phone, { call: { do: "save", handle, edits: [{ append: "phone" }], expect: 1, merge: false } })),
  ],
  [
    "content",
    "a read of another state",
    history(replaced(read, { result: { ...met(3, "phone"), digest: "?" } as Result })),
  ],
  ["attribution", "a read that names another writer", history(replaced(read, { result: met(3, "laptop") }))],
  ["real time", "a read that is behind a write", history(replaced(read, { result: met(2, "laptop") }))],
  ["lost", "a document that vanished", { ...history(), journals: [] }],
  [
    "end",
    "a document that is there after its end",
    history([
      mint,
      laptop,
      phone,
      operation("revoke", 25, { do: "revoke", handle }, { is: "revoked", version: 3 }),
      read,
    ]),
  ],
  [
    "refusal",
    "a refusal that no caller deserved",
    history(replaced(read, { result: { is: "refused", code: "internal_error" } })),
  ],
  [
    "damage",
    "a document that is damaged",
    history(replaced(read, { result: { is: "refused", code: "backend_error", message: "It is damaged." } })),
  ],
  [
    "repeated",
    "a repetition with another answer",
    history([mint, laptop, phone, read, { ...laptop, invokedAt: 40, returnedAt: 45, result: met(3, "phone") }]),
  ],
  [
    "list",
    "a list that shows an older version",
    history([mint, laptop, phone, operation("list", 40, { do: "list" }, { is: "list", versions: { [handle]: 2 } })]),
  ],
  [
    "changes",
    "changes that leave one out",
    history([
      mint,
      laptop,
      phone,
      operation("changes", 40, { do: "changes", handle, since: 0 }, {
        is: "changes",
        changes: [],
        current: 3,
        more: false,
      }),
    ]),
  ],
  [
    "expiry",
    "a write after the end of its life",
    history(replaced(phone, { result: { ...met(3, "phone"), expiresAt: at(2) } as Result })),
  ],
  ["watch", "a listener that is not told of the last version", history(undefined, { events: events.slice(0, 2) })],
  ["watch", "a listener that is told one twice", history(undefined, { events: [...events, events[2]] })],
  [
    "watch",
    "a listener that is told of a gap where nothing was lost",
    history(undefined, { events: [{ type: "gap", seenAt: 1 }, ...events] }),
  ],
];
for (const [rule, what, broken] of BROKEN) {
  Deno.test(`check: ${what} is caught`, () => {
    const rules = check(broken).map((anomaly) => anomaly.rule);
    assert(rules.includes(rule), `${rules}`);
  });
}
