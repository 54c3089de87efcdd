import { openKvBackend } from "../../src/backends/kv.ts";
import { storeContract } from "../contract/store.ts";
import { inOneConnection } from "../contract/target.ts";
import { kvFile } from "../contract/targets.ts";

storeContract("store over kv", kvFile);

storeContract("store over kv in memory", () => inOneConnection(() => openKvBackend({ path: ":memory:" })));
