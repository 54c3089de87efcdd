/**
 * What can be wrong in a Deno KV database beside the journals.
 *
 * @module
 */

import type { Fault } from "../maintenance.ts";
import type { Connection } from "./connection.ts";

/** Looks for every kind of fault. */
export async function* findFaults(_connection: Connection): AsyncGenerator<Fault> {
}
