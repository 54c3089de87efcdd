/**
 * What the official suite expects a server to have: it is mounted behind our real HTTP shell, beside our own tools, and only
 * here.
 *
 * @module
 */

import { completable, type McpServer, ResourceTemplate, type ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const IMAGE = { type: "image", data: PNG, mimeType: "image/png" } as const;

function text(text: string) {
  return { type: "text", text } as const;
}

function embedded(uri: string, mimeType: string, text: string) {
  return { type: "resource", resource: { uri, mimeType, text } } as const;
}

/** Adds the tools, the resources and the prompts that the scenarios name. */
export function addFixtures(server: McpServer): void {
  // Said before the SDK would say otherwise: no fixture ever changes.
  server.server.registerCapabilities({
    resources: { listChanged: false, subscribe: false },
    prompts: { listChanged: false },
  });
  const answers = {
    test_simple_text: [text("This is a simple text response for testing.")],
    test_image_content: [IMAGE],
    test_audio_content: [{ type: "audio", data: WAV, mimeType: "audio/wav" } as const],
    test_embedded_resource: [
      embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
    ],
    test_multiple_content_types: [
      text("Multiple content types test:"),
      IMAGE,
      embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  };
  for (const [name, content] of Object.entries(answers)) {
    server.registerTool(name, { description: "A fixture." }, () => ({ content }));
  }
  server.registerTool("test_error_handling", { description: "A fixture." }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  server.registerTool("test_tool_with_progress", { description: "A fixture." }, async ({ mcpReq }: ServerContext) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken === undefined) continue;
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
    }
    return { content: [text("done")] };
  });
  addResources(server);
  addPrompts(server);
}

function addResources(server: McpServer): void {
  server.registerResource("static-text", "test://static-text", { mimeType: "text/plain" }, ({ href: uri }) => ({
    contents: [{ uri, mimeType: "text/plain", text: "This is the content of the static text resource." }],
  }));
  server.registerResource("static-binary", "test://static-binary", { mimeType: "image/png" }, ({ href: uri }) => ({
    contents: [{ uri, mimeType: "image/png", blob: PNG }],
  }));
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  server.registerResource("template", template, { mimeType: "application/json" }, ({ href: uri }, { id }) => ({
    contents: [{
      uri,
      mimeType: "application/json",
      text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    }],
  }));
}

function addPrompts(server: McpServer): void {
  const say = (...contents: (ReturnType<typeof text> | ReturnType<typeof embedded> | typeof IMAGE)[]) => ({
    messages: contents.map((content) => ({ role: "user" as const, content })),
  });
  server.registerPrompt(
    "test_simple_prompt",
    { description: "A fixture." },
    () => say(text("This is a simple prompt for testing.")),
  );
  server.registerPrompt(
    "test_prompt_with_arguments",
    {
      description: "A fixture.",
      argsSchema: z.object({ arg1: completable(z.string(), (typed) => [`${typed}is`, `${typed}k`]), arg2: z.string() }),
    },
    ({ arg1, arg2 }) => say(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "A fixture.", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) =>
      say(
        embedded(resourceUri, "text/plain", "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
      ),
  );
  server.registerPrompt(
    "test_prompt_with_image",
    { description: "A fixture." },
    () => say(IMAGE, text("Please analyze the image above.")),
  );
}
