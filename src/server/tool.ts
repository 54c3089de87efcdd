/**
 * What a tool is here: how it is advertised, what it takes, and what it does.
 *
 * @module
 */

import type { CallToolResult, StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { z } from "zod";
import { type Answer, success } from "./answers.ts";
import { parseArguments } from "./arguments.ts";
import type { Call } from "./call.ts";
import { inTime, tooLate } from "./deadline.ts";
import { failure } from "./failures.ts";
import { advertised } from "./schemas.ts";
import type { Scope } from "./scopes.ts";

/** A tool as its module writes it. */
export interface ToolDefinition<Input extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Whether it changes nothing, whether it can destroy, and whether a second call changes nothing more. */
  readonly hints: { readonly readOnly: boolean; readonly destructive: boolean; readonly idempotent: boolean };
  readonly input: Input;
  readonly output: z.ZodObject;
  /** The longest answer that a client should show whole, where it is longer than clients expect. */
  readonly maxResultChars?: number;
  run(args: z.output<Input>, call: Call): Promise<Answer>;
}

/** What a list says of a tool. */
export interface Advertisement {
  readonly title: string;
  readonly description: string;
  readonly inputSchema: StandardSchemaWithJSON<unknown, Record<string, unknown>>;
  readonly outputSchema: StandardSchemaWithJSON<unknown, Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, string | boolean>>;
  readonly _meta?: Record<string, unknown>;
}

const UNSAID = { inputSchema: advertised(z.object({}), "input") } as const;

/** The same tool for a server that is asked to call it and not to list it: the SDK goes through schemas at each call. */
export function onlyCalled(tool: Tool): Tool {
  return { ...tool, advertisement: UNSAID };
}

/** A tool, ready to be registered. */
export interface Tool {
  readonly name: string;
  /** What a caller must be allowed, as its hints say: there is no way to leave it out. */
  readonly scope: Scope;
  /** Whether a call says which document it is about. One that does not is about all of a user's. */
  readonly takesHandle: boolean;
  /** What a list says of it; where it is only called, nothing but that it takes arguments. */
  readonly advertisement: Advertisement | typeof UNSAID;
  /** Never rejects: what goes wrong is an answer too. */
  answer(args: unknown, toCall: () => Call, budget: number): Promise<CallToolResult>;
}

/** Makes a tool of its definition. */
export function defineTool<Input extends z.ZodObject>(definition: ToolDefinition<Input>): Tool {
  const { name, title, description, hints, input, output, maxResultChars } = definition;
  const scope = hints.readOnly ? "mcpstate:read" : "mcpstate:write";
  return {
    name,
    scope,
    takesHandle: "handle" in input.shape,
    advertisement: {
      title,
      description,
      inputSchema: advertised(input, "input"),
      outputSchema: advertised(output, "output"),
      annotations: {
        title,
        readOnlyHint: hints.readOnly,
        destructiveHint: hints.destructive,
        idempotentHint: hints.idempotent,
        openWorldHint: false,
      },
      ...(maxResultChars === undefined ? {} : { _meta: { "anthropic/maxResultSizeChars": maxResultChars } }),
    },
    async answer(args, toCall, budget) {
      try {
        const call = toCall();
        const running = definition.run(parseArguments(input, args), call);
        return success(await inTime(running, call.callMs, () => tooLate(scope, call.callMs)));
      } catch (error) {
        return failure(error, name, budget);
      }
    },
  };
}
