import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { storeContract } from "../contract/store.ts";
import { inOneConnection } from "../contract/target.ts";
import { sqliteFile } from "../contract/targets.ts";

storeContract("store over sqlite", sqliteFile);

storeContract("store over sqlite in memory", () => inOneConnection(() => openSqliteBackend()));
