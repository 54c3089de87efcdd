/**
 * A store with a long document, a short one that ends, a request and a tombstone, for faults to be planted in.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { checkStore, type Finding } from "../../src/admin/doctor.ts";
import { repairStore } from "../../src/admin/repair.ts";
import { append, setKey } from "../../src/document/ops.ts";
import type { Kept, MaintenanceTarget } from "../contract/maintenance.ts";
import { Kept as KeptStore } from "../contract/maintenance.ts";
import { alice } from "./site.ts";

/** What there is. */
export interface Ground {
  /** A document of 31 versions over several keyframes, each in its turn, all kept. */
  readonly log: string;
  /** One that ends in 30 days. */
  readonly trip: string;
  /** One that was deleted. */
  readonly gone: string;
}

/** One fault. */
export interface Planted<T> {
  readonly name: string;
  /** Plants it, past the library. */
  readonly plant: (target: T, ground: Ground) => Promise<void> | void;
  /** What is told, of which document or of none, in whatever order. */
  readonly told: readonly (readonly [about: keyof Ground | "nobody", problem: RegExp])[];
  /** What is told still after a repair; absent: nothing. */
  readonly left?: Planted<T>["told"];
}

/** Makes a ground. */
export async function prepare(kept: Kept): Promise<Ground> {
  const store = await kept.store();
  const log = await store.mint("log", { lines: [] }, { ...alice, turn: 1 });
  for (let i = 2; i <= 31; i++) {
    const edits = [setKey("", `k${i % 4}`, `${i}`.repeat(3_000)), append("lines", i)];
    await store.patch(log, edits, { ...alice, turn: i });
  }
  const trip = await store.mint("trip", { city: "Aarhus" }, { ...alice, ttlDays: 30, requestId: "mint-1", turn: 3 });
  const gone = await store.mint("cart", { items: [] }, alice);
  await store.revoke(gone, alice);
  return { log, trip, gone };
}

/** Plants each fault in data of its own, and looks what the doctor says of it before and after a repair. */
export function plantedCases<T extends MaintenanceTarget>(
  engine: string,
  makeTarget: () => Promise<T>,
  faults: readonly Planted<T>[],
): void {
  for (const { name, plant, told, left = [] } of faults) {
    Deno.test(`doctor: on ${engine} finds ${name}, and nothing else`, async () => {
      const target = await makeTarget();
      await using kept = new KeptStore(target);
      const ground = await prepare(kept);
      const maintenance = await kept.maintenance();
      const check = () => Array.fromAsync(checkStore(maintenance));
      assertEquals(await check(), []);
      const before = await entriesOf(kept, ground);
      await plant(target, ground);
      assertTold(await check(), told, ground, "before");
      const planted = await entriesOf(kept, ground);
      const report = await repairStore(maintenance);
      assertTold(report.left, left, ground, "after");
      assertEquals(await entriesOf(kept, ground), planted, "no entry is touched by a repair");
      if (left.length > 0) return;
      assertEquals(planted, before);
      const store = await kept.store();
      for (const version of [1, 7, 20, 31]) {
        assertEquals(
          (await store.get(ground.log, { ...alice, version })).state.lines,
          Array.from({ length: version - 1 }, (_, i) => i + 2),
        );
      }
      assertEquals((await store.get(ground.log, { ...alice, turn: 13 })).version, 13);
      assertEquals((await store.list("alice")).handles.map(({ handle }) => handle), [ground.trip, ground.log]);
      await store.patch(ground.log, [append("lines", 32)], alice);
      assertEquals(await check(), []);
    });
  }
}

/** What is written, past damaged records. */
async function entriesOf(kept: Kept, { log, trip }: Ground): Promise<unknown> {
  const maintenance = await kept.maintenance();
  return await Promise.all([log, trip].map((id) => Array.fromAsync(maintenance.entries({ ...alice, id }))));
}

function assertTold(findings: readonly Finding[], told: Planted<never>["told"], ground: Ground, when: string): void {
  const names = { [ground.log]: "log", [ground.trip]: "trip", [ground.gone]: "gone" };
  const left = findings.map(({ id, problem }) => `${id === undefined ? "nobody" : names[id] ?? id}: ${problem}`);
  const all = left.join("\n");
  for (const [about, problem] of told) {
    const at = left.findIndex((each) => each.startsWith(`${about}: `) && problem.test(each.slice(about.length + 2)));
    assert(at !== -1, `${when}: ${about} ${problem} is not among:\n${all}`);
    left.splice(at, 1);
  }
  assertEquals(left, [], `${when}: told beside what was planted`);
}
