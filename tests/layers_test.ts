/**
 * Who may import whom. A file that is in no room of the table may import nothing of ours, so a new file must be placed.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** A room: which files it holds, and what these may import, of ours and of others'. */
interface Room {
  readonly files: RegExp;
  readonly ours: readonly string[];
  readonly others: readonly string[];
}

const ROOMS: Readonly<Record<string, Room>> = {
  document: { files: /^src\/document\/[a-z_]+\.ts$/, ours: ["document"], others: ["node:buffer"] },
  port: {
    files: /^src\/backends\/(backend|records|heads|maintenance|parts|file_url)\.ts$/,
    ours: ["document", "port"],
    others: [],
  },
  file: { files: /^src\/backends\/database_file\.ts$/, ours: ["document"], others: ["node:path"] },
  open: { files: /^src\/backends\/open\.ts$/, ours: ["document", "port"], others: [] },
  sqlite: {
    files: /^src\/backends\/sqlite(\.ts|\/[a-z_]+\.ts)$/,
    ours: ["document", "port", "file", "sqlite"],
    others: ["node:path", "node:timers"],
  },
  kv: {
    files: /^src\/backends\/kv(\.ts|\/[a-z_]+\.ts)$/,
    ours: ["document", "port", "file", "kv"],
    others: ["node:crypto", "node:path"],
  },
  redis: {
    files: /^src\/backends\/redis(\.ts|\/[a-z_]+\.ts)$/,
    ours: ["document", "port", "redis"],
    others: [],
  },
  store: {
    files: /^src\/store\/[a-z_]+\.ts$/,
    ours: ["document", "port", "open", "store"],
    others: ["node:crypto", "node:timers"],
  },
  langgraph: {
    files: /^src\/history\/langgraph\.ts$/,
    ours: ["document", "history"],
    others: ["@langchain/core/messages", "@langchain/core/tools", "@langchain/langgraph"],
  },
  history: {
    files: /^src\/history\/[a-z_]+\.ts$/,
    ours: ["document", "store", "history"],
    others: [],
  },
  admin: { files: /^src\/admin\/[a-z_]+\.ts$/, ours: ["document", "port", "admin"], others: ["node:crypto"] },
  server: {
    files: /^src\/server\/([a-z_]+\/)?[a-z_]+\.ts$/,
    ours: ["document", "store", "history", "server"],
    others: [
      "@modelcontextprotocol/server",
      "@modelcontextprotocol/server/stdio",
      "zod",
      "node:crypto",
      "node:process",
      "node:buffer",
      "jose",
    ],
  },
  cli: {
    files: /^src\/cli\/[a-z_]+\.ts$/,
    ours: ["document", "open", "store", "history", "admin", "server", "cli"],
    others: ["node:util", "node:path", "node:url"],
  },
  main: { files: /^src\/main\.ts$/, ours: ["cli", "document"], others: [] },
  entry: { files: /^mod\.ts$/, ours: ["document", "port", "open", "store", "history", "main"], others: [] },
};

/** What is only ever imported dynamically: nobody pays for an adapter, a server or a driver that is not used. */
const DYNAMIC: readonly (readonly [from: string, to: string])[] = [
  ["open", "sqlite"],
  ["open", "kv"],
  ["open", "redis"],
  ["entry", "main"],
  ["cli", "cli"],
  ["main", "server"],
  ["sqlite", "node:sqlite"],
  ["kv", "node:sqlite"],
  ["history", "re2js"],
  ["admin", "node:sqlite"],
  ["redis", "@redis/client"],
];

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");

interface Import {
  readonly from: string;
  readonly specifier: string;
  readonly isDynamic: boolean;
  readonly isType: boolean;
}

function* sourceFiles(folder = "src"): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(join(ROOT, folder))) {
    if (isDirectory) yield* sourceFiles(`${folder}/${name}`);
    else if (name.endsWith(".ts")) yield `${folder}/${name}`;
  }
}

function importsOf(file: string): Import[] {
  const text = Deno.readTextFileSync(join(ROOT, file)).replaceAll(/^ *\/?\*.*$/gm, "");
  const statics = text.matchAll(/^(?:import|export)\s+(type\s)?[^;"']*?from\s+"([^"]+)"/gm);
  const bare = text.matchAll(/^import\s+"([^"]+)"/gm);
  const dynamics = text.matchAll(/\bimport\("([^"]+)"\)/g);
  return [
    ...[...statics].map(([, type, specifier]) => ({
      from: file,
      specifier,
      isDynamic: false,
      isType: type !== undefined,
    })),
    ...[...bare].map(([, specifier]) => ({ from: file, specifier, isDynamic: false, isType: false })),
    ...[...dynamics].map(([, specifier]) => ({ from: file, specifier, isDynamic: true, isType: false })),
  ];
}

function roomOf(file: string): string | undefined {
  return Object.keys(ROOMS).find((name) => ROOMS[name].files.test(file));
}

function targetOf({ from, specifier }: Import): string | undefined {
  return specifier.startsWith(".") ? relative(ROOT, join(ROOT, dirname(from), specifier)) : undefined;
}

const FILES = [...sourceFiles(), "mod.ts"];

Deno.test("layers: every file has a room", () => {
  assertEquals(FILES.filter((file) => roomOf(file) === undefined), []);
});

Deno.test("layers: imports go one way", () => {
  const wrong = FILES.flatMap(importsOf).filter((each) => {
    const from = roomOf(each.from) ?? "";
    const target = targetOf(each);
    const to = target === undefined ? each.specifier : roomOf(target) ?? "";
    if (each.isDynamic) return !DYNAMIC.some(([a, b]) => a === from && b === to);
    return !(target === undefined ? ROOMS[from]?.others : ROOMS[from]?.ours)?.includes(to);
  });
  assertEquals(wrong.map(({ from, specifier }) => `${from} imports ${specifier}`), []);
});

Deno.test("layers: no module needs itself to be loaded", () => {
  const graph = new Map(
    FILES.map((
      file,
    ) => [
      file,
      importsOf(file).filter((each) => !each.isType && !each.isDynamic).flatMap((each) => targetOf(each) ?? []),
    ]),
  );
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): string[] => {
    if (trail.includes(file)) return [[...trail, file].join(" → ")];
    if (done.has(file)) return [];
    const found = (graph.get(file) ?? []).flatMap((next) => visit(next, [...trail, file]));
    done.add(file);
    return found;
  };
  assertEquals(FILES.flatMap((file) => visit(file, [])), []);
});
