import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { backendContract, inOneConnection } from "../contract/backend.ts";

backendContract("sqlite in a file", async () => {
  const directory = await Deno.makeTempDir();
  return {
    open: () => openSqliteBackend({ path: join(directory, "state.db"), synchronous: "normal" }),
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
});

backendContract("sqlite in memory", () => inOneConnection(() => openSqliteBackend()));

backendContract("sqlite handed in", async () => {
  const directory = await Deno.makeTempDir();
  return {
    open: () => openSqliteBackend({ database: new DatabaseSync(join(directory, "state.db")) }),
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
});
