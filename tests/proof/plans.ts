/**
 * Plans as fast-check draws and shrinks them.
 *
 * @module
 */

import fc from "fast-check";
import { BULKY, type Intent, WISHES } from "./intents.ts";
import type { Fault, Plan } from "./simulation.ts";

const HOUR = 3_600_000;

const intent: fc.Arbitrary<Intent> = fc.record({
  wish: fc.constantFrom(...WISHES, "patch", "patch", "save", "merge", "merge", "get", "mint", "touch"),
  document: fc.nat(3),
  pick: fc.nat(BULKY - 1),
  repeatable: fc.boolean(),
});

const at = fc.integer({ min: 0, max: 250 });
/** Where every statement is a step, things take long. */
const late = fc.integer({ min: 0, max: 800 });
const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ at, what: fc.constantFrom("lose" as const, "double" as const) }),
  fc.record({ at, what: fc.constant("crash" as const), process: fc.nat(2) }),
  fc.record({ at, what: fc.constant("jump" as const), ms: fc.constant(HOUR) }),
  fc.record({ at, what: fc.constant("jump" as const), ms: fc.integer({ min: 0, max: 13 * HOUR }) }),
  fc.record({ at, what: fc.constant("resume" as const) }),
);

/** The clock is set, and set back soon after. */
const blink = fc.record({
  at: fc.oneof(at, late),
  ms: fc.constantFrom(HOUR, -HOUR),
  steps: fc.integer({ min: 1, max: 30 }),
})
  .map(({ at, ms, steps }): Fault[] => [{ at, what: "jump", ms }, { at: at + steps, what: "jump", ms: -ms }]);

const blinks = fc.array(blink, { minLength: 1, maxLength: 16 }).map((pairs) => pairs.flat());
/** Some things go wrong, each at its time. */
const faults: fc.Arbitrary<Fault[]> = fc.array(fault, { maxLength: 10 });

const processes = fc.array(
  fc.array(fc.array(intent, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
  { minLength: 1, maxLength: 3 },
);

/** Everybody does a few sorts of things all the time, which meet each other then. */
const swarm = fc.tuple(fc.subarray([...WISHES], { minLength: 2, maxLength: 5 }), fc.boolean(), fc.nat(3)).chain(
  ([wishes, isBulky, documents]) =>
    fc.array(
      fc.array(
        fc.array(
          fc.record({
            wish: fc.constantFrom(...wishes, "mint" as const),
            document: fc.nat(documents),
            pick: isBulky
              ? fc.oneof(fc.nat(BULKY - 1), fc.integer({ min: BULKY, max: BULKY + 100 }))
              : fc.nat(BULKY - 1),
            repeatable: fc.boolean(),
          }),
          { minLength: 3, maxLength: 10 },
        ),
        { minLength: 1, maxLength: 3 },
      ),
      { minLength: 2, maxLength: 3 },
    ),
);

/** Documents come, are renewed and written to, and go when their time is over. */
const lives = fc.array(
  fc.array(
    fc.array(
      fc.record({
        wish: fc.constantFrom("mint", "touch", "touch", "touch", "clear", "patch", "get", "sweep", "sweep", "sweep"),
        document: fc.nat(12),
        pick: fc.nat(BULKY - 1),
        repeatable: fc.constant(false),
      }),
      { minLength: 4, maxLength: 10 },
    ),
    { minLength: 1, maxLength: 3 },
  ),
  { minLength: 2, maxLength: 3 },
);

const common = {
  schedule: fc.integer(),
  paces: fc.array(fc.constantFrom(1, 1, 0.1), { maxLength: 3 }),
  noise: fc.constantFrom(0, 0, 0.15, 0.3),
  options: fc.constantFrom({}, { cacheBytes: 0 }, { cacheBytes: 8_000 }),
};

/** Several processes that know one document, so that each holds versions that another will write anew. */
const crowd = fc.array(
  fc.array(
    fc.array(
      fc.record({
        wish: fc.constantFrom("patch", "patch", "get", "get", "merge", "old", "changes"),
        document: fc.constant(0),
        pick: fc.nat(BULKY - 1),
        repeatable: fc.boolean(),
      }),
      { minLength: 4, maxLength: 12 },
    ),
    { minLength: 1, maxLength: 2 },
  ),
  { minLength: 2, maxLength: 3 },
);

const anything: fc.Arbitrary<Plan> = fc.record({ ...common, processes: fc.oneof(processes, swarm), faults });
/**
 * The clock is set back too, and then nothing is lost: what is past due and cannot be buried is answered as ended all the
 * same, which a clock that is set back makes untrue.
 */
const unsteady = { ...common, noise: fc.constant(0), faults: blinks };
const backwards: fc.Arbitrary<Plan> = fc.record({ ...unsteady, processes: fc.oneof(processes, swarm) });
const mortal: fc.Arbitrary<Plan> = fc.record({ ...unsteady, processes: lives });

/** Sorts of plans. */
export const PLANS = {
  /** Nothing that was acknowledged may be lost. */
  any: fc.oneof(
    { weight: 4, arbitrary: anything },
    { weight: 1, arbitrary: backwards },
    { weight: 1, arbitrary: mortal },
  ),
  /** The same, about the end of lives above all. */
  lives: mortal,
  /** A replica that lags takes over. */
  failover: fc.record({
    ...common,
    processes: fc.oneof(processes, swarm, crowd),
    faults,
    failover: fc.tuple(at, fc.integer({ min: 1, max: 60 })).map(([lagsAt, by]) => ({ lagsAt, at: lagsAt + by })),
  }),
} satisfies Readonly<Record<string, fc.Arbitrary<Plan>>>;

/** One of them. */
export type PlanName = keyof typeof PLANS;
