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
    throw error instanceof RateLimited ? limited(error, id) : error;
  }
}

/** The answer to a caller who did too much. */
export function limited(error: RateLimited, id?: RequestId): Refusal {
  const headers = { "retry-after": String(Math.ceil(error.retryAfterMs / 1000)) };
  return new Refusal(429, error.message, { headers, data: error.toPayload() }, id);
}
