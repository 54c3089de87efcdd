import { join } from "node:path";
import { openKvBackend } from "../../src/backends/kv.ts";
import { storeContract } from "../contract/store.ts";

storeContract("store over kv", async () => {
  const directory = await Deno.makeTempDir();
  return {
    open: () => openKvBackend({ path: join(directory, "state.kv") }),
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
});
