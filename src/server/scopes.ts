/**
 * What a caller is allowed: two scopes, and which of them a message needs.
 *
 * @module
 */

/** The scopes of an access token. */
export const SCOPES = ["mcpstate:read", "mcpstate:write"] as const;

/** One of {@link SCOPES}. */
export type Scope = typeof SCOPES[number];

/** Whether a text is a scope of ours. Tokens hold others too. */
export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}

/** What a tool declares that decides its scope. */
interface Declared {
  readonly name: string;
  readonly scope: Scope;
}

/** What any caller may ask: what there is, and whether it is alive. It tells nothing of anybody's. */
const OPEN_METHODS: ReadonlySet<string> = new Set([
  "initialize",
  "ping",
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/templates/list",
  "logging/setLevel",
]);

/**
 * The scope that a message needs; `undefined` if none. A tool's own declaration decides, so that no tool can be forgotten;
 * a tool that is not known needs the most, another method reads.
 */
export function scopeOf(method: string, tool: string | undefined, tools: readonly Declared[]): Scope | undefined {
  if (method === "tools/call") return tools.find(({ name }) => name === tool)?.scope ?? "mcpstate:write";
  return OPEN_METHODS.has(method) || method.startsWith("notifications/") ? undefined : "mcpstate:read";
}
