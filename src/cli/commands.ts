/**
 * Every command there is. Each loads its own module only when it is run, so that none pays for the others.
 *
 * @module
 */

import { Call } from "./call.ts";
import { checkKind, checkTime, checkUser } from "../document/checks.ts";
import type { Argument, Command } from "./command.ts";
import { HTTP_FLAGS, listeningHosts, TRANSPORT } from "./http_flags.ts";
import { TOKEN_FLAGS } from "./token_flags.ts";
import { BACKEND, DRY_RUN, JSON_OUTPUT, MAX_STATE_BYTES, ONLY_USER, USER, WRITER } from "./flags.ts";
import { didYouMean, UsageError } from "./usage.ts";

const HANDLE: Argument = { name: "HANDLE", does: "the document, as list prints it" };

/** What happens without a command. */
export const DEFAULT_COMMAND = "serve";

/** By name, in the order of the help. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  serve: {
    summary: "serve MCP on standard input and output, or over HTTP (what happens without a command)",
    details: "Over HTTP callers need a token: one made with mcpstate token add, or of the --issuer.",
    arguments: [],
    flags: {
      transport: TRANSPORT,
      backend: BACKEND,
      user: USER,
      writer: WRITER,
      "max-state-bytes": MAX_STATE_BYTES,
      ...HTTP_FLAGS,
    },
    examples: [
      { line: "", does: "state in ~/.mcpstate/state.db" },
      { line: "serve --backend redis://127.0.0.1:6379/0 --user alice", does: "state in Redis, for alice" },
      { line: "serve --transport http", does: "at http://127.0.0.1:8000/mcp, for holders of tokens", isEndless: true },
      {
        line: "serve --transport http --issuer https://id.example.com --public-url https://state.example.com",
        does: "behind a proxy, for users of an identity provider",
        isEndless: true,
      },
    ],
    needs: listeningHosts,
    run: async (call) => await (await import("./serve.ts")).serve(call),
  },
  list: {
    summary: "list a user's documents, newest first",
    arguments: [],
    flags: {
      backend: BACKEND,
      user: USER,
      kind: { value: "KIND", does: "only of this kind", check: checkKind },
      query: { value: "TEXT", does: "only those whose title or handle contains this" },
      limit: { value: "N", does: "how many at most, 1 to 1000 (default 100)" },
      cursor: { value: "CURSOR", does: "go on where a page ended" },
      expired: { does: "what has expired in the last 30 days too" },
      json: JSON_OUTPUT,
    },
    examples: [
      { line: "list", does: "the last 100" },
      { line: "list --kind research --query copenhagen --json", does: "for another program" },
    ],
    run: async (call) => await (await import("./list.ts")).list(call),
  },
  show: {
    summary: "print a document as it is, or as of a version, a turn or a time",
    arguments: [HANDLE],
    flags: {
      backend: BACKEND,
      user: USER,
      version: { value: "N", does: "as of this version" },
      turn: { value: "N", does: "as this turn of the conversation ended" },
      at: {
        value: "TIME",
        does: "as of this time, in ISO 8601 with its zone",
        check: (text) => checkTime("at", text),
      },
      path: { value: "PATH", does: "only what is there: dotted, or a JSON Pointer" },
      json: JSON_OUTPUT,
    },
    examples: [
      { line: "show research_k7q2v9xa", does: "as it is" },
      { line: "show research_k7q2v9xa --version 3 --path sources.0", does: "one value, as it was" },
      { line: "show research_k7q2v9xa --at 2026-07-28T09:30:00Z", does: "as it was then" },
    ],
    run: async (call) => await (await import("./show.ts")).show(call),
  },
  log: {
    summary: "print who changed what in a document and when, newest first",
    arguments: [HANDLE],
    flags: {
      backend: BACKEND,
      user: USER,
      limit: { value: "N", does: "how many versions at most, 1 to 1000 (default 20)" },
      since: { value: "N", does: "only what was written after this version" },
      json: JSON_OUTPUT,
    },
    examples: [
      { line: "log research_k7q2v9xa", does: "the last 20 versions" },
      { line: "log research_k7q2v9xa --since 3 --json", does: "as JSON Patches, oldest last" },
    ],
    run: async (call) => await (await import("./log.ts")).log(call),
  },
  diff: {
    summary: "print what changed between two versions of a document",
    arguments: [
      HANDLE,
      { name: "A", does: "the version to compare from" },
      { name: "B", does: "the version to compare to (default: the current one)", isOptional: true },
    ],
    flags: { backend: BACKEND, user: USER, json: JSON_OUTPUT },
    examples: [
      { line: "diff research_k7q2v9xa 2 4", does: "from version 2 to version 4" },
      { line: "diff research_k7q2v9xa 3 --json", does: "from version 3 to now, as a JSON Patch" },
    ],
    run: async (call) => await (await import("./diff.ts")).diff(call),
  },
  watch: {
    summary: "print what happens to a user's documents, as it happens",
    arguments: [{ name: "HANDLE", does: "only of this document", isOptional: true }],
    flags: {
      backend: BACKEND,
      user: USER,
      since: { value: "CURSOR", does: "go on after the event with this cursor (default: from now on)" },
      json: { does: "print one line of JSON per event, with its cursor" },
    },
    examples: [
      { line: "watch", does: "all of a user's documents", isEndless: true },
      { line: "watch research_k7q2v9xa --json", does: "one, for another program", isEndless: true },
    ],
    run: async (call) => await (await import("./watch.ts")).watch(call),
  },
  token: {
    summary: "hand out, list and revoke the tokens that let callers in over HTTP",
    details: "Tokens are kept in the store, as hashes: every server on the same backend knows them at once.",
    arguments: [
      { name: "ACTION", does: "add, list or revoke" },
      { name: "ID", does: "which token to revoke, as list shows it", isOptional: true },
    ],
    flags: { backend: BACKEND, ...TOKEN_FLAGS, json: JSON_OUTPUT },
    examples: [
      { line: "token add --user alice --writer phone", does: "a token for alice's phone; its text is shown this once" },
      { line: "token add --user alice --scope read --ttl-days 30", does: "one that only reads, for a month" },
      { line: "token list", does: "all of them, without their secrets" },
      { line: "token revoke k3x9q2ma", does: "end one, within five seconds everywhere" },
    ],
    run: async (call) => await (await import("./token.ts")).token(call),
  },
  export: {
    summary: "write a store out as JSON Lines, every document with its whole past",
    details: "Each document comes out as it was at one moment; servers may go on meanwhile.",
    arguments: [
      {
        name: "FILE",
        does: "the file to make, which holds everything: keep it private (default: standard output)",
        isOptional: true,
        names: "file to write",
      },
    ],
    flags: { backend: BACKEND, user: ONLY_USER },
    examples: [
      { line: "export backup.jsonl", does: "everything, into a file" },
      { line: "export --user alice", does: "one user, to standard output" },
    ],
    run: async (call) => await (await import("./export.ts")).exportTo(call),
  },
  import: {
    summary: "take an export in, or a database of the Python package mcpstate",
    details: "What is there already is left as it is, so one that was cut off is taken up by running it again.\n" +
      "It ends with 1 if anything was refused or the export is not whole; the rest was taken in then.",
    arguments: [
      {
        name: "FILE",
        does: "an export, or a SQLite file of the Python package (default: standard input)",
        isOptional: true,
        names: "file to read",
      },
    ],
    flags: { backend: BACKEND, "dry-run": DRY_RUN, "max-state-bytes": MAX_STATE_BYTES, json: JSON_OUTPUT },
    examples: [
      { line: "import backup.jsonl --dry-run", does: "say what would come of it" },
      { line: "import backup.jsonl", does: "take it in" },
    ],
    run: async (call) => await (await import("./import.ts")).importFrom(call),
  },
  migrate: {
    summary: "copy a store into another one, of whatever engine",
    details: "Running it again takes in what has come since, and leaves alone what is there.",
    arguments: [
      { name: "FROM", does: "the URL of the store to copy", names: "backend" },
      { name: "TO", does: "the URL of the store to copy into", names: "backend" },
    ],
    flags: { user: ONLY_USER, "dry-run": DRY_RUN, "max-state-bytes": MAX_STATE_BYTES, json: JSON_OUTPUT },
    examples: [
      { line: "migrate sqlite:///~/.mcpstate/state.db sqlite:///copy/state.db --dry-run", does: "say what would come" },
      { line: "migrate sqlite:///~/.mcpstate/state.db sqlite:///copy/state.db", does: "copy" },
    ],
    run: async (call) => await (await import("./migrate.ts")).migrate(call),
  },
  doctor: {
    summary: "look a store over: fold every journal, and compare it with what is kept beside it",
    details: "Changes nothing, and may run while servers do. Ends with 1 if anything is wrong.",
    arguments: [],
    flags: { backend: BACKEND, user: ONLY_USER, json: JSON_OUTPUT },
    examples: [
      { line: "doctor", does: "all of it" },
      { line: "doctor --user alice --json", does: "one user's documents, for another program" },
    ],
    run: async (call) => await (await import("./doctor.ts")).doctor(call),
  },
  purge: {
    summary: "delete everything of a user: documents, history, what is left of ended ones, request ids",
    details: "On a terminal it asks first; elsewhere it needs --yes.",
    arguments: [],
    flags: {
      backend: BACKEND,
      user: { value: "NAME", does: "whose; there is no default", check: checkUser },
      yes: { does: "do not ask" },
    },
    examples: [{ line: "purge --user alice --yes", does: "without asking" }],
    run: async (call) => await (await import("./purge.ts")).purge(call),
  },
  permissions: {
    summary: "print the deno run and deno compile lines with exactly what a command needs",
    details: "Everything after the command's name is as you would give it to that command.",
    arguments: [
      {
        name: "COMMAND",
        does: "the command that is to be run, with its arguments (default serve)",
        isOptional: true,
        isRest: true,
      },
    ],
    flags: { json: JSON_OUTPUT },
    examples: [
      { line: "permissions", does: "for a server with its state in ~/.mcpstate/state.db" },
      { line: "permissions serve --backend redis://127.0.0.1:6379/0", does: "for a server with its state in Redis" },
      { line: "permissions list --user alice", does: "for another command" },
    ],
    run: async (call) => await (await import("./permissions.ts")).permissions(call),
  },
};

/** A command's name and the words after it. */
export function splitName(words: readonly string[]): { readonly name: string; readonly words: readonly string[] } {
  const [first] = words;
  const isNamed = first !== undefined && !first.startsWith("-");
  return isNamed ? { name: first, words: words.slice(1) } : { name: DEFAULT_COMMAND, words };
}

/** @throws {UsageError} if there is no such command. */
export function commandOf(name: string): Command {
  if (Object.hasOwn(COMMANDS, name)) return COMMANDS[name];
  throw new UsageError(`There is no command ${name}.${didYouMean(name, Object.keys(COMMANDS))}`);
}

/** Reads a command line. @throws {UsageError} where it makes no sense. */
export function toCall(name: string, words: readonly string[]): Call {
  return new Call(name, commandOf(name), words);
}
