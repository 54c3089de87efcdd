/**
 * What a process loads and what keeps it alive, seen from outside: each driver stands in the import map as a module that
 * says so when it is evaluated.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startRedis, startRedisCluster } from "../redis_server.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SDK = "@modelcontextprotocol/server";
const DRIVERS = ["@redis/client", SDK, `${SDK}/stdio`, "zod", "jose", "re2js", "ioredis"];

/** What a module of a driver does once it has told that it is loaded. */
const FAILING = 'throw new Error("not to be loaded");';
/** Lets whatever is done with it pass, so that what is loaded after it is heard of too. */
const ANYTHING = `new Proxy(function () {}, {
  get: (_, name) => name === Symbol.toPrimitive ? () => "" : name === "then" ? undefined : anything,
  apply: () => anything,
  construct: () => anything,
})`;

/** A module that tells that it is loaded, and has every name that the package has: what imports it statically links too. */
async function marker(name: string, isFailing: boolean): Promise<string> {
  const names = Object.keys(await import(name)).map((each) => `anything as ${JSON.stringify(each)}`);
  return `console.log("loaded ${name}");\n${isFailing ? FAILING : ""}\n` +
    `const anything: any = ${ANYTHING};\nexport { ${names.join(", ")} };\n`;
}

/** A directory with programs and an import map in which all packages tell that they are loaded. */
class Site implements AsyncDisposable {
  readonly directory = Deno.makeTempDirSync();
  readonly #config = join(this.directory, "deno.json");

  /** @param harmless the drivers that do not fail once they are loaded. */
  static async make(...harmless: string[]): Promise<Site> {
    const site = new Site();
    const marked = await Promise.all(DRIVERS.map(async (name, i) => {
      const file = join(site.directory, `driver_${i}.ts`);
      await Deno.writeTextFile(file, await marker(name, !harmless.includes(name)));
      return [name, file];
    }));
    await Deno.writeTextFile(site.#config, JSON.stringify({ imports: Object.fromEntries(marked) }));
    return site;
  }

  /** Runs a program, and answers the lines it said. */
  async run(body: string, flags: readonly string[] = []): Promise<string[]> {
    const program = join(this.directory, `${crypto.randomUUID()}.ts`);
    const text = `import { HandleStore } from ${JSON.stringify(join(ROOT, "mod.ts"))};\n${body}\n`;
    await Deno.writeTextFile(program, text);
    return await run(["--config", this.#config, ...flags, program]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.directory, { recursive: true });
  }
}

/** Runs Deno until it ends by itself (or is ended, which fails), and answers the lines it said. */
async function run(args: readonly string[]): Promise<string[]> {
  const flags = ["run", "-q", "--no-lock", "--no-check", "--no-prompt", "--no-remote"];
  const command = new Deno.Command(Deno.execPath(), {
    args: [...flags, ...args],
    stdin: "null",
    signal: AbortSignal.timeout(60_000),
  });
  const { code, stdout, stderr } = await command.output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).split("\n").slice(0, -1);
}

const USE = `
{
  await using store = await HandleStore.fromUrl(url);
  const handle = await store.mint("trip", { city: "Copenhagen" }, { user: "alice" });
  await store.patch(handle, [{ op: "set_key", path: "", key: "city", value: "Aarhus" }], { user: "alice" });
  console.log((await store.get(handle, { user: "alice", version: 1 })).state.city);
}`;

Deno.test("loading: the library alone loads no driver and no server, and needs no permission", async () => {
  await using site = await Site.make();
  assertEquals(await site.run(`console.log(typeof HandleStore);`), ["function"]);
});

Deno.test("loading: a run on SQLite and one on Deno KV evaluate no client of Redis, no MCP SDK and no engine of patterns", async () => {
  await using site = await Site.make();
  const file = join(site.directory, "state.db");
  const flags = [`--allow-read=${site.directory}`, `--allow-write=${site.directory}`];
  assertEquals(await site.run(`const url = ${JSON.stringify(`sqlite:///${file}`)};${USE}`, flags), ["Copenhagen"]);
  assertEquals(await site.run(`const url = "kv::memory:";${USE}`, ["--unstable-kv"]), ["Copenhagen"]);
});

Deno.test("loading: what evaluates a driver is heard to do so, be it the MCP SDK, an engine of patterns or a client", async () => {
  await using site = await Site.make(...DRIVERS);
  const load = (file: string) => `await import(${JSON.stringify(join(ROOT, file))});`;
  const loaded = async (body: string) => new Set(await site.run(body, ["--allow-read"]));
  const server = new Set([SDK, `${SDK}/stdio`, "zod"].map((name) => `loaded ${name}`));
  assertEquals(await loaded(load("src/server/mod.ts")), server);
  const search = `const { compilePattern } = ${load("src/history/pattern.ts")} await compilePattern("a+");`;
  assertEquals(await loaded(search), new Set(["loaded re2js"]));
  for (const name of DRIVERS) assert((await loaded(`await import("${name}");`)).has(`loaded ${name}`), name);
});

Deno.test("loading: a run on Redis asks for its client, and for nothing else", async () => {
  await using site = await Site.make();
  const said = await site.run(
    `await HandleStore.fromUrl("redis://127.0.0.1:1").catch((error) => console.log(error.code));`,
    ["--allow-net=127.0.0.1:1"],
  );
  assertEquals([...new Set(said)], ["loaded @redis/client", "backend_error"]);
});

/** Subscribes, hears of a write, closes, and has nothing to hold it any more. The subscription is left open. */
function listener(open: string, afterwards = ""): string {
  return `
import { HandleStore } from ${JSON.stringify(join(ROOT, "mod.ts"))};
${open}
const store = new HandleStore(backend);
const { promise, resolve } = Promise.withResolvers();
await backend.subscribe("alice", resolve);
const events = store.watch("alice")[Symbol.asyncIterator]();
const next = events.next();
// Until the watch has begun, what is written is before it.
const timer = setInterval(() => store.mint("trip", { city: "Copenhagen" }, { user: "alice" }).catch(() => {}), 20);
await promise;
console.log((await next).value.type);
clearInterval(timer);
events.next().catch(() => {});
await store.close();
${afterwards}
console.log("closed");
`;
}

/** Whether the process comes to its end. */
async function assertEnds(program: string, flags: readonly string[]): Promise<void> {
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, program);
    const config = join(ROOT, "deno.json");
    assertEquals(await run(["--config", config, ...flags, file]), ["change", "closed"]);
  } finally {
    await Deno.remove(file);
  }
}

const byUrl = (url: string) =>
  `import { openBackend } from ${JSON.stringify(join(ROOT, "src/backends/open.ts"))};
const backend = await openBackend(${JSON.stringify(url)});`;

Deno.test("close: ends a process that still listens, on SQLite and on Deno KV", async () => {
  const directory = await Deno.makeTempDir();
  const flags = [`--allow-read=${directory}`, `--allow-write=${directory}`];
  await assertEnds(listener(byUrl(`sqlite:///${join(directory, "state.db")}`)), flags);
  await assertEnds(listener(byUrl("sqlite:///:memory:")), []);
  await assertEnds(listener(byUrl(`kv:///${join(directory, "state.kv")}`)), [...flags, "--unstable-kv"]);
  await assertEnds(listener(byUrl("kv::memory:")), ["--unstable-kv"]);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("close: ends a process that still listens, on Redis", async () => {
  await using server = await startRedis();
  await assertEnds(listener(byUrl(server.url)), [`--allow-net=127.0.0.1:${server.port}`]);
});

Deno.test("close: ends a process that still listens, on Redis Cluster", async () => {
  await using cluster = await startRedisCluster();
  const hosts = cluster.servers.map(({ port }) => `127.0.0.1:${port}`);
  await assertEnds(listener(byUrl(cluster.url)), [`--allow-net=${hosts}`]);
});

Deno.test("close: ends a process that still listens, once the client that it handed in is closed", async () => {
  await using server = await startRedis();
  const open = `
import { openRedisBackend } from ${JSON.stringify(join(ROOT, "src/backends/redis.ts"))};
import { Redis } from "ioredis";
const redis = new Redis(${server.port}, "127.0.0.1", { maxRetriesPerRequest: 3, connectTimeout: 2_000 });
const client = { sendCommand: ([command, ...args]) => redis.call(command, ...args) };
const backend = await openRedisBackend({ client, onWarning: () => {} });`;
  const flags = [`--allow-net=127.0.0.1:${server.port}`, "--allow-env", "--allow-read", "--allow-sys"];
  await assertEnds(listener(open, "await redis.quit();"), flags);
});
