/**
 * Whether the server can do its work: it reads the store, as a call would.
 *
 * @module
 */

import type { StateStore } from "../call.ts";
import { inTime } from "../deadline.ts";
import type { Log } from "./log.ts";

/** How long the store may take. Probes usually allow little more. */
const READ_MS = 3_000;
/** No caller is this user: nothing of anybody's is read. */
const NOBODY = "mcpstate:health";

/** 200 if the store can be read, else 503. */
export async function health(store: StateStore, log: Log): Promise<Response> {
  try {
    const late = () => new Error(`the store did not answer within ${READ_MS} ms`);
    await inTime(store.list(NOBODY, { limit: 1 }), READ_MS, late);
    return answer(200, "ok");
  } catch (error) {
    log.say("error", "unhealthy", { message: error instanceof Error ? error.message : String(error) });
    return answer(503, "unavailable");
  }
}

function answer(status: number, text: string): Response {
  return Response.json({ status: text }, { status, headers: { "cache-control": "no-store" } });
}
