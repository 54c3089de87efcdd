/**
 * Every documented command line works with exactly the flags that `permissions` prints for it, and with none less.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { COMMANDS } from "../../src/cli/commands.ts";
import { startRedis } from "../redis_server.ts";
import { CommandSite } from "./command_site.ts";
import { prepare, wordsOf } from "./documented.ts";

for (const [name, { examples }] of Object.entries(COMMANDS)) {
  for (const { line, does, isEndless } of examples) {
    Deno.test(`documented: mcpstate ${line || name} (${does})`, async () => {
      await using site = new CommandSite();
      await using redis = line.includes("redis://") ? await startRedis() : undefined;
      const handle = await site.seed();
      const token = await prepare(site, name);
      const words = wordsOf(line, { handle, redis: redis?.url, token });
      const { flags, run } = await site.permissions(words);
      for (const flag of flags) {
        // Variables that only stand in for flags are read where that is allowed.
        if (flag.startsWith("--allow-env=") && !flag.startsWith("--allow-env=HOME")) continue;
        const fewer = flags.filter((each) => each !== flag);
        const { code, stdout, stderr } = await site.runWith(fewer, words);
        assertEquals([code, stdout], [1, ""], `without ${flag}`);
        if (!flag.startsWith("--allow-env=")) assertStringIncludes(stderr, run);
      }
      if (isEndless) {
        await using endless = await site.start(...words);
        assert((await endless.begun()).length > 0);
        assertEquals(await endless.stop(), 0);
        return;
      }
      const { code, stderr } = await site.runWith(flags, words);
      assertEquals(code, 0, `${flags.join(" ")}\n${stderr}`);
      assert(!flags.some((flag) => flag === "-A" || flag === "--allow-all"));
    });
  }
}
