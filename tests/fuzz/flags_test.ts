/**
 * Command lines and URLs, given anything: a usage error that repeats no secret, or a call.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { parseRedisUrl } from "../../src/backends/redis/options.ts";
import { openBackend } from "../../src/backends/open.ts";
import { Call } from "../../src/cli/call.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { UsageError } from "../../src/cli/usage.ts";
import { hostileText } from "./hostile.ts";
import { always, attempt } from "./rule.ts";

const SECRET = "hunter2hunter2";

for (const [name, command] of Object.entries(COMMANDS)) {
  Deno.test(`${name}: any words after it are a call, or a usage error that says why`, async () => {
    const flags = Object.keys(command.flags);
    const word = fc.oneof(
      hostileText,
      fc.constantFrom(...flags.map((flag) => `--${flag}`), "--", "-", "--=", "-x", "--__proto__", "--constructor=1"),
      fc.tuple(fc.constantFrom("a", ...flags), hostileText).map(([flag, value]) => `--${flag}=${value}`),
    );
    await always(fc.array(word, { maxLength: 5 }), async (words) => {
      try {
        const call = new Call(name, command, words);
        await call.check();
        for (const flag of flags) assert(["string", "undefined"].includes(typeof call.text(flag)));
      } catch (error) {
        assert(error instanceof UsageError, String(error));
        assert(error.message !== "" && error.message.length < 2_000, `${error.message.length} characters`);
      }
    }, 150);
  });
}

Deno.test("URLs of Redis: any is refused or has hosts, and no password is repeated", async () => {
  const parts = fc.array(
    fc.oneof(hostileText, fc.constantFrom("@", ":", "/", "?", "#", ",", "%", "cluster=true", "h", "6379")),
  );
  await always(parts, async (parts) => {
    const url = `redis://user:${SECRET}${parts.join("")}`;
    const address = (await attempt(() => {
      try {
        return parseRedisUrl(url);
      } catch (error) {
        assert(!String(error).includes(SECRET));
        throw error;
      }
    }))?.value;
    for (const { host, port } of address?.servers ?? []) assert(host !== "" && port >= 1 && port <= 65_535);
  });
});

Deno.test("URLs of backends: of a scheme that there is not, none is opened", async () => {
  await always(hostileText, async (text) => {
    for (const url of [text, `${text}://x`, `sqlite://${text}`, `kv:${text}:`]) {
      if (/^(sqlite|kv):\/\/\/?[^?]/.test(url) || url === "kv::memory:" || /^rediss?:/.test(url)) continue; // a file
      assertEquals(await attempt(() => openBackend(url)), undefined, url.slice(0, 40));
    }
  });
});
