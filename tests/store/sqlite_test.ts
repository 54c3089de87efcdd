import { join } from "node:path";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { storeContract } from "../contract/store.ts";

storeContract("store over sqlite", async () => {
  const directory = await Deno.makeTempDir();
  return {
    open: () => openSqliteBackend({ path: join(directory, "state.db"), synchronous: "normal" }),
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
});
