/**
 * Where a campaign takes place: an engine, and what can befall it.
 *
 * @module
 */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type RedisServer, startRedis } from "../redis_server.ts";
import { TcpProxy } from "../tcp_proxy.ts";

/** An engine with its data. */
export interface Site extends AsyncDisposable {
  readonly url: string;
  /** What a process needs to reach it. */
  readonly permissions: readonly string[];
  /** What goes wrong with it now and then, by name. */
  readonly faults: Readonly<Record<string, () => Promise<void>>>;
  /** How many blocks of 512 bytes its largest file has, if it has files that a process can be forbidden to lengthen. */
  readonly blocks?: () => number;
}

/** The engines. */
export type SiteName = "sqlite" | "kv" | "redis";

/** A fresh one. */
export async function makeSite(name: SiteName): Promise<Site> {
  return name === "redis" ? await redisSite() : fileSite(name);
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function fileSite(engine: "sqlite" | "kv"): Site {
  const directory = Deno.makeTempDirSync({ prefix: "mcpstate-proof-" });
  const path = join(directory, `state.${engine}`);
  return {
    url: `${engine}:///${path}${engine === "sqlite" ? "?synchronous=normal" : ""}`,
    permissions: [`--allow-read=${directory}`, `--allow-write=${directory}`],
    faults: {
      lock: async () => {
        using database = new DatabaseSync(path);
        try {
          database.exec("BEGIN IMMEDIATE");
        } catch {
          return; // somebody else holds it
        }
        await pause(300);
        database.exec("ROLLBACK");
      },
    },
    blocks: () => Math.ceil(Math.max(...[...Deno.readDirSync(directory)].map((file) => sizeOf(directory, file))) / 512),
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}

function sizeOf(directory: string, { name }: Deno.DirEntry): number {
  try {
    return Deno.statSync(join(directory, name)).size;
  } catch {
    return 0; // its owner has just removed it
  }
}

async function redisSite(): Promise<Site> {
  const server: RedisServer = await startRedis("--appendonly", "yes", "--appendfsync", "always");
  const proxy = new TcpProxy(server.port);
  return {
    url: `redis://127.0.0.1:${proxy.port}`,
    permissions: [`--allow-net=127.0.0.1:${proxy.port}`],
    faults: {
      cut: () => Promise.resolve(proxy.cut()),
      "lose replies": () => {
        for (let i = 0; i < 3; i++) proxy.cutNextReply();
        return Promise.resolve();
      },
      restart: async () => {
        await server.kill();
        await server.start();
      },
      silence: async () => {
        server.pause();
        await pause(400);
        server.resume();
      },
      full: async () => {
        await server.cli("CONFIG", "SET", "maxmemory", "1");
        await pause(200);
        await server.cli("CONFIG", "SET", "maxmemory", "0");
      },
    },
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
