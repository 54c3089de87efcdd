/**
 * Turns a limit that was reached into an answer.
 *
 * @module
 */

import type { RequestId } from "@modelcontextprotocol/server";
import { RateLimited } from "../../document/errors.ts";
import { Refusal } from "./refusal.ts";

/** Does something that a limit may not allow. @throws {Refusal} with 429 and when to come again. */
export function withinLimits<T>(take: () => T, id?: RequestId): T {
  try {
    return take();
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    const headers = { "retry-after": String(Math.ceil(error.retryAfterMs / 1000)) };
    throw new Refusal(429, error.message, { headers, data: error.toPayload() }, id);
  }
}
