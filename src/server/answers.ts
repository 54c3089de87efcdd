/**
 * Successes in wire form: structured content and the same JSON as text, since some clients show one and some the other.
 *
 * @module
 */

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { HandleInfo } from "../document/snapshot.ts";
import { toWireMetadata, type WireMetadata } from "../document/snapshot.ts";

/** What a tool answers, beside `ok`. */
export type Answer = { readonly handle?: string; readonly [field: string]: unknown };

/** The answer to a call that succeeded. */
export function success(answer: Answer): CallToolResult {
  const structuredContent = { ok: true, ...answer };
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
}

/** The handle and the metadata of a document. */
export function described(info: HandleInfo): { readonly handle: string } & WireMetadata {
  return { handle: info.handle, ...toWireMetadata(info) };
}
