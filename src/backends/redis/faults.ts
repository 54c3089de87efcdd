/**
 * What can be wrong in a Redis beside the journals.
 *
 * @module
 */

import type { Fault } from "../maintenance.ts";
import type { Caller } from "./caller.ts";
import type { Keys } from "./keys.ts";

/** Looks for every kind of fault. */
export async function* findFaults(_caller: Caller, _keys: Keys, _users: AsyncIterable<string>): AsyncGenerator<Fault> {
}
