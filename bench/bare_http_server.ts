/**
 * The least MCP server over HTTP on the same SDK: one tool that does nothing.
 *
 * @module
 */

import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const input = z.object({ text: z.string() });

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "bare", version: "1.0.0" });
  server.registerTool("echo", { description: "Says it again", inputSchema: input }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  return server;
});

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.error(JSON.stringify({ event: "listening", url: `http://127.0.0.1:${port}/mcp` })),
}, (request) => handler.fetch(request));
