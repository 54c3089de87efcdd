/**
 * Plans as fast-check draws and shrinks them.
 *
 * @module
 */

import fc from "fast-check";
import { type Intent, WISHES } from "./intents.ts";
import type { Fault, Plan } from "./simulation.ts";

const HOUR = 3_600_000;

const intent: fc.Arbitrary<Intent> = fc.record({
  wish: fc.constantFrom(...WISHES, "patch", "patch", "save", "merge", "merge", "get", "mint", "touch"),
  document: fc.nat(3),
  pick: fc.nat(400),
  repeatable: fc.boolean(),
});

const at = fc.integer({ min: 10, max: 200 });
const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ at, what: fc.constantFrom("lose" as const, "double" as const) }),
  fc.record({ at, what: fc.constant("crash" as const), process: fc.nat(2) }),
  fc.record({ at, what: fc.constant("jump" as const), ms: fc.constant(HOUR) }),
  fc.record({ at, what: fc.constant("jump" as const), ms: fc.integer({ min: -2 * HOUR, max: 13 * HOUR }) }),
  fc.record({ at, what: fc.constant("resume" as const) }),
);

const processes = fc.array(
  fc.array(fc.array(intent, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
  { minLength: 1, maxLength: 3 },
);

const common = {
  schedule: fc.integer(),
  processes,
  faults: fc.array(fault, { maxLength: 10 }),
  noise: fc.constantFrom(0, 0, 0.15, 0.3),
  options: fc.constantFrom({}, { cacheBytes: 0 }, { cacheBytes: 8_000 }),
};

/** Plans in which nothing that was acknowledged may be lost. */
export const plans: fc.Arbitrary<Plan> = fc.record(common);

/** Several processes that know one document, so that each holds versions that another will write anew. */
const crowd = fc.array(
  fc.array(
    fc.array(
      fc.record({
        wish: fc.constantFrom("patch", "patch", "get", "get", "merge", "old", "changes"),
        document: fc.constant(0),
        pick: fc.nat(400),
        repeatable: fc.boolean(),
      }),
      { minLength: 4, maxLength: 12 },
    ),
    { minLength: 1, maxLength: 2 },
  ),
  { minLength: 2, maxLength: 3 },
);

/** Plans in which a replica that lags takes over. */
export const failoverPlans: fc.Arbitrary<Plan> = fc.record({
  ...common,
  processes: fc.oneof(processes, crowd),
  failover: fc.tuple(at, fc.integer({ min: 1, max: 60 })).map(([lagsAt, by]) => ({ lagsAt, at: lagsAt + by })),
});
