import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { backendContract, inOneConnection } from "../contract/backend.ts";
import { inDirectory, sqliteFile } from "../contract/targets.ts";

backendContract("sqlite in a file", sqliteFile);

backendContract("sqlite in memory", () => inOneConnection(() => openSqliteBackend()));

backendContract(
  "sqlite handed in",
  () => inDirectory((directory) => openSqliteBackend({ database: new DatabaseSync(join(directory, "state.db")) })),
);
