import type { KvDatabase } from "../../src/backends/kv.ts";
import { openKvBackend } from "../../src/backends/kv.ts";
import { backendContract, inOneConnection } from "../contract/backend.ts";
import { kvFile } from "../contract/targets.ts";

backendContract("kv in a file", kvFile);

backendContract("kv in memory", () => inOneConnection(() => openKvBackend({ path: ":memory:" })));

backendContract("kv handed in, with the limits of a server", () =>
  inOneConnection(async () => {
    const kv = limited(await Deno.openKv(":memory:"));
    return await openKvBackend({ kv, prefix: "p".repeat(64) });
  }));

/** What a self-hosted `denokv` refuses and Deno does not: more than ten checks in one commit. */
function limited(kv: Deno.Kv): KvDatabase {
  return {
    get: (key) => kv.get(key),
    getMany: (keys) => kv.getMany(keys),
    list: (selector, options) => kv.list(selector, options),
    close: () => kv.close(),
    atomic: () => {
      const atomic = kv.atomic();
      const check = atomic.check.bind(atomic);
      let checks = 0;
      atomic.check = (...more) => {
        if ((checks += more.length) > 10) throw new TypeError("Too many checks (max 10)");
        return check(...more);
      };
      return atomic;
    },
  };
}
