import { assertEquals } from "@std/assert";
import { startRedis } from "../redis_server.ts";
import { Site } from "../store/raw.ts";
import { assertSound, KvSite } from "./kv_site.ts";
import { processCases } from "./process_cases.ts";

processCases("sqlite", () => {
  const site = new Site();
  const check = () => {
    const heads = site.rows("SELECT doc, version, write_id, turn, journal_offset FROM mcpstate_document ORDER BY doc");
    const newest = site.rows(
      "SELECT doc, max(version) AS version, write_id, turn, journal_offset FROM mcpstate_entry GROUP BY doc ORDER BY doc",
    );
    assertEquals(heads, newest);
    assertEquals(site.rows("PRAGMA integrity_check"), [{ integrity_check: "ok" }]);
    return Promise.resolve();
  };
  const dispose = () => site[Symbol.asyncDispose]();
  return Promise.resolve({ url: site.url, crash: nothing, check, [Symbol.asyncDispose]: dispose });
});

processCases("kv", () => {
  const site = new KvSite();
  const check = async () => {
    await site.sweepLater();
    assertSound(await site.records());
  };
  const dispose = () => site[Symbol.asyncDispose]();
  return Promise.resolve({ url: site.url, crash: nothing, check, [Symbol.asyncDispose]: dispose });
});

processCases("redis", async () => {
  const server = await startRedis("--appendonly", "yes", "--appendfsync", "always");
  const crash = async () => {
    await server.kill();
    await server.start();
  };
  return { url: server.url, crash, check: nothing, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
});

async function nothing(): Promise<void> {}
