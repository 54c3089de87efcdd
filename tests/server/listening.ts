/**
 * Listening at 2026-07-28: what a client hears, and a bare stream.
 *
 * @module
 */

import type { Client } from "@modelcontextprotocol/client";
import { toUri } from "../../src/server/resources.ts";
import { connectHttpModern, MODERN_META, type Reach } from "./http_client.ts";

/** What a client is told from now on: the URIs of what was updated, and `list`. */
export function heardBy(client: Client): readonly string[] {
  const heard: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.push(params.uri));
  client.setNotificationHandler("notifications/resources/list_changed", () => void heard.push("list"));
  return heard;
}

/** A client over HTTP, and what it hears. */
export async function connectListener(reach: Reach) {
  const connected = await connectHttpModern(reach);
  return Object.assign(connected, { heard: heardBy(connected.client) });
}

/** A bare stream about these documents. */
export async function openStream({ url, token }: Reach, handles: readonly string[]): Promise<Response> {
  return await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "accept": "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "subscriptions/listen",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "subscriptions/listen",
      params: { _meta: MODERN_META, notifications: { resourceSubscriptions: handles.map(toUri) } },
    }),
  });
}
