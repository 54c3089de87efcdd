/**
 * The least MCP server on the same SDK: one tool that does nothing.
 *
 * @module
 */

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const input = z.object({ text: z.string() });

serveStdio(() => {
  const server = new McpServer({ name: "bare", version: "1.0.0" });
  server.registerTool("echo", { description: "Says it again", inputSchema: input }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  return server;
});
