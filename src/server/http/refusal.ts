/**
 * What a request is refused with before any tool hears of it: a status, and a JSON-RPC error that says what to do.
 *
 * @module
 */

import type { RequestId } from "@modelcontextprotocol/server";

/** JSON-RPC's codes for a request that makes no sense, one that is no JSON, and what servers define themselves. */
export const REFUSED = { request: -32600, parse: -32700, server: -32000 } as const;

/** What goes with a refusal. */
interface RefusalOptions {
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Facts in wire form. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A request that is not served. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  /** `id`: that of the request, where it is known. */
  constructor(
    readonly status: number,
    message: string,
    readonly options: RefusalOptions = {},
    readonly id?: RequestId,
  ) {
    super(message);
  }

  /** The answer. */
  toResponse(): Response {
    const { code = REFUSED.server, headers = {}, data } = this.options;
    const error = { code, message: this.message, ...(data === undefined ? {} : { data }) };
    return Response.json({ jsonrpc: "2.0", id: this.id ?? null, error }, { status: this.status, headers });
  }
}
