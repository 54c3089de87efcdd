/**
 * What a store must keep over every backend. An engine runs it with one line and the target of {@link backendContract}:
 *
 * ```ts
 * storeContract("sqlite", async () => { … });
 * ```
 *
 * @module
 */

import type { HandleStoreOptions } from "../../src/store/options.ts";
import { HandleStore } from "../../src/store/store.ts";
import { conflictCases } from "./store_conflict_cases.ts";
import { countsCases } from "./store_counts_cases.ts";
import { handleCases } from "./store_handle_cases.ts";
import { inspectCases } from "./store_inspect_cases.ts";
import { kindCases } from "./store_kind_cases.ts";
import { lifetimeCases } from "./store_lifetime_cases.ts";
import { listCases } from "./store_list_cases.ts";
import { patchCases } from "./store_patch_cases.ts";
import { pastCases } from "./store_past_cases.ts";
import { requestCases } from "./store_request_cases.ts";
import { retentionCases } from "./store_retention_cases.ts";
import { stateCases } from "./store_state_cases.ts";
import { turnCases } from "./store_turn_cases.ts";
import { watchCases } from "./store_watch_cases.ts";
import { updateCases } from "./store_update_cases.ts";
import type { Target } from "./target.ts";

/** A registered case: the first store, and how to open more over the same data, each with a cache of its own. */
export type StoreCase = (
  title: string,
  body: (store: HandleStore, open: (options?: HandleStoreOptions) => Promise<HandleStore>) => Promise<void>,
) => void;

/** Runs the cases on one engine; each test gets a target of its own. */
export function storeContract(name: string, makeTarget: () => Promise<Target>): void {
  const contract: StoreCase = (title, body) => {
    Deno.test(`${name} ${title}`, async () => {
      await using target = await makeTarget();
      await using opened = new AsyncDisposableStack();
      const open = async (options?: HandleStoreOptions) => opened.use(new HandleStore(await target.open(), options));
      await body(await open(), open);
    });
  };
  handleCases(contract);
  stateCases(contract);
  conflictCases(contract);
  patchCases(contract);
  updateCases(contract);
  lifetimeCases(contract);
  listCases(contract);
  pastCases(contract);
  turnCases(contract);
  retentionCases(contract);
  inspectCases(contract);
  requestCases(contract);
  kindCases(contract);
  watchCases(contract);
  countsCases(contract);
}
