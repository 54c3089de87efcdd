/**
 * What every maintenance port must keep, whatever its engine. An engine runs it with one line and gives nothing but a target:
 *
 * ```ts
 * maintenanceContract("sqlite", async () => { … });
 * ```
 *
 * @module
 */

import type { Backend } from "../../src/backends/backend.ts";
import type { Maintenance } from "../../src/backends/maintenance.ts";
import type { HandleStoreOptions } from "../../src/store/options.ts";
import { HandleStore } from "../../src/store/store.ts";
import type { Stores } from "../admin/site.ts";
import { adoptCases } from "./maintenance_adopt_cases.ts";
import { boundsCases } from "./maintenance_bounds_cases.ts";
import { readCases } from "./maintenance_read_cases.ts";

/** Fresh data for one test. Disposing it removes the data; connections that are still open are closed before. */
export interface MaintenanceTarget extends AsyncDisposable {
  /** One more connection to the same data, for a store. */
  open(): Promise<Backend>;
  /** One more connection to the same data, for maintenance. */
  maintain(): Promise<Maintenance>;
}

/** Data that can be used and looked after at the same time. All that it has opened is closed at its end. */
export class Kept implements Stores, AsyncDisposable {
  readonly #target: MaintenanceTarget;
  readonly #opened = new AsyncDisposableStack();

  constructor(target: MaintenanceTarget) {
    this.#target = this.#opened.use(target);
  }

  async backend(): Promise<Backend> {
    return this.#opened.use(await this.#target.open());
  }

  async store(options: HandleStoreOptions = {}): Promise<HandleStore> {
    return this.#opened.use(new HandleStore(await this.backend(), options));
  }

  async maintenance(): Promise<Maintenance> {
    return this.#opened.use(await this.#target.maintain());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }
}

/** A registered case: the data, and how to make more that has nothing to do with it. */
export type MaintenanceCase = (
  title: string,
  body: (kept: Kept, another: () => Promise<Kept>) => Promise<void>,
) => void;

/** Runs the contract on one engine; each test gets a target of its own. */
export function maintenanceContract(name: string, makeTarget: () => Promise<MaintenanceTarget>): void {
  const contract: MaintenanceCase = (title, body) => {
    Deno.test(`${name} ${title}`, async () => {
      await using made = new AsyncDisposableStack();
      const another = async () => made.use(new Kept(await makeTarget()));
      await body(await another(), another);
    });
  };
  readCases(contract);
  adoptCases(contract);
  boundsCases(contract);
}
