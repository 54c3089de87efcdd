/**
 * Durable, user-keyed, versioned state for stateless MCP servers: a server mints a handle, the model carries it, the
 * store keeps what it names, with its whole past.
 *
 * Import it for {@link HandleStore}; run it (`deno run jsr:@mcpstate/server`) for a ready-made MCP server on stdio.
 *
 * ```ts
 * import { append, HandleStore } from "jsr:@mcpstate/server";
 *
 * await using store = await HandleStore.fromUrl("sqlite:///:memory:");
 * const handle = await store.mint("research", { sources: [] }, { user: "alice", ttlDays: 7 });
 * await store.patch(handle, [append("sources", "https://example.com")], { user: "alice" });
 * const now = await store.get(handle, { user: "alice" });
 * const before = await store.get(handle, { user: "alice", version: 1 });
 * console.log(now.state, before.state);
 * ```
 *
 * @module
 */

export { HandleStore } from "./src/store/store.ts";
