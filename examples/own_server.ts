/**
 * An MCP server of your own, with state behind handles: two tools of its trade, and the `state_*` tools beside them. Every
 * write to a trip, whichever tool makes it, is held to its schema.
 *
 * ```sh
 * deno run --allow-read=. --allow-write=. examples/own_server.ts
 * ```
 *
 * @module
 */

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { append, HandleStore, StateError } from "../mod.ts";
import { addStateTools } from "../src/server/mod.ts";

const user = "alice";
const store = await HandleStore.fromUrl("sqlite:///trips.db");
const trips = store.kind(
  "trip",
  z.strictObject({ city: z.string(), nights: z.int().min(1).max(30), stops: z.array(z.string()).max(20) }),
);

/** What a tool answers, or why it cannot. */
async function answer(call: () => Promise<Record<string, unknown>>) {
  try {
    const result = await call();
    return { structuredContent: result, content: [{ type: "text" as const, text: JSON.stringify(result) }] };
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    return { isError: true, content: [{ type: "text" as const, text: JSON.stringify(error.toPayload()) }] };
  }
}

const plan = { city: z.string(), nights: z.int() };
const stop = { trip: z.string().describe("The handle that plan_trip gave."), name: z.string() };

/** Made anew for every connection or request: nothing of a conversation is kept in it. */
function makeServer(): McpServer {
  const server = new McpServer({ name: "trips", version: "1.0.0" });
  server.registerTool(
    "plan_trip",
    { description: "Begins a trip. Kept for 30 days after its last change.", inputSchema: z.object(plan) },
    ({ city, nights }) =>
      answer(async () => {
        const trip = await trips.mint({ city, nights, stops: [] }, { user, ttlDays: 30, title: `Trip to ${city}` });
        return { trip };
      }),
  );
  server.registerTool(
    "add_stop",
    { description: "Adds a stop to a trip.", inputSchema: z.object(stop) },
    ({ trip, name }) =>
      answer(async () => {
        const { version, state } = await trips.patch(trip, [append("stops", name)], { user });
        return { version, stops: state.stops };
      }),
  );
  addStateTools(server, store, { user });
  return server;
}

serveStdio(makeServer);
