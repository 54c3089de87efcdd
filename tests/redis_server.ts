/**
 * Real Redis servers for tests: on free loopback ports, each with a directory of its own, ended by their process id.
 *
 * @module
 */

import { join } from "node:path";

/** A server that this process has started. */
export interface RedisServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly pid: number;
  /** Where it keeps its files. */
  readonly directory: string;
  /** Runs a command with redis-cli, as its owner. */
  cli(...args: string[]): Promise<string>;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and data. */
  start(): Promise<void>;
  /** Stops it from answering, with all its connections open. */
  pause(): void;
  resume(): void;
}

const running = new Set<Deno.ChildProcess>();
const directories = new Set<string>();
globalThis.addEventListener("unload", () => {
  for (const child of running) tryTo(() => child.kill("SIGKILL"));
  for (const directory of directories) tryTo(() => Deno.removeSync(directory, { recursive: true }));
});

/** Starts a server. It keeps nothing on disk unless it is told to. @param args as on the command line of redis-server. */
export async function startRedis(...args: string[]): Promise<RedisServer> {
  await requireRedis();
  const directory = await Deno.makeTempDir({ prefix: "mcpstate-redis-" });
  directories.add(directory);
  for (let attempt = 1;; attempt++) {
    const bus = args.includes("--cluster-enabled") ? ["--cluster-port", String(freePort())] : [];
    const server = new Server(freePort(), directory, [...args, ...bus]);
    try {
      await server.start();
      return server;
    } catch (error) {
      if (attempt === 5) throw error; // the port was taken meanwhile
    }
  }
}

class Server implements RedisServer {
  readonly url: string;
  #child: Deno.ChildProcess | undefined;

  constructor(readonly port: number, readonly directory: string, readonly args: readonly string[]) {
    this.url = `redis://127.0.0.1:${port}`;
  }

  get pid(): number {
    if (this.#child === undefined) throw new Error("the server is not running");
    return this.#child.pid;
  }

  async start(): Promise<void> {
    const defaults = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.directory, "--save", ""];
    const log = join(this.directory, "log");
    const child = new Deno.Command("redis-server", {
      args: [...defaults, "--logfile", log, "--daemonize", "no", ...this.args],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    this.#child = child;
    running.add(child);
    let ended = false;
    child.status.then(() => {
      ended = true;
      running.delete(child);
    });
    for (const deadline = Date.now() + 10_000; !ended && Date.now() < deadline;) {
      const pid = /process_id:(\d+)/.exec(await this.cli("INFO", "server"))?.[1];
      if (Number(pid) === child.pid) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`redis-server did not start: ${await Deno.readTextFile(log).catch(() => "no log")}`);
  }

  async cli(...args: string[]): Promise<string> {
    const at = this.args.indexOf("--requirepass");
    const auth = at === -1 ? [] : ["--no-auth-warning", "-a", this.args[at + 1]];
    return await redisCli("-p", String(this.port), ...auth, ...args);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    tryTo(() => child.kill("SIGKILL"));
    await child.status;
  }

  pause(): void {
    Deno.kill(this.pid, "SIGSTOP");
  }

  resume(): void {
    Deno.kill(this.pid, "SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    directories.delete(this.directory);
    await Deno.remove(this.directory, { recursive: true }).catch(() => {});
  }
}

/** A cluster of three primaries. */
export interface RedisCluster extends AsyncDisposable {
  readonly url: string;
  readonly servers: readonly RedisServer[];
}

/** Starts three servers and makes a cluster of them. @param args as on the command line of redis-server. */
export async function startRedisCluster(...args: string[]): Promise<RedisCluster> {
  const start = () => startRedis("--cluster-enabled", "yes", ...args);
  const servers = await Promise.all([start(), start(), start()]);
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
  await redisCli("--cluster", "create", ...addresses, "--cluster-yes");
  for (const server of servers) {
    while (!(await server.cli("CLUSTER", "INFO")).includes("cluster_state:ok")) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return {
    url: `redis://${addresses[0]}/?cluster=true`,
    servers,
    [Symbol.asyncDispose]: async () => {
      for (const server of servers) await server[Symbol.asyncDispose]();
    },
  };
}

/** What redis-cli prints; its failures too. */
async function redisCli(...args: string[]): Promise<string> {
  const { stdout, stderr } = await new Deno.Command("redis-cli", { args, stdin: "null" }).output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}

/** Installs Redis where that is possible, or says what to install. */
async function requireRedis(): Promise<void> {
  if (await isInstalled()) return;
  if (Deno.build.os === "linux" && Deno.uid() === 0 && await exists("/usr/bin/apt-get")) {
    const env = { DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" }; // no server of the system's own is wanted
    for (const args of [["update"], ["install", "-y", "--no-install-recommends", "redis-server"]]) {
      await new Deno.Command("apt-get", { args: ["-qq", ...args], env, stdin: "null" }).output();
    }
    if (await isInstalled()) return;
  }
  throw new Error(
    "These tests start redis-server 7 or newer. Install it: apt-get install redis-server, or brew install redis.",
  );
}

async function isInstalled(): Promise<boolean> {
  try {
    return (await new Deno.Command("redis-server", { args: ["--version"], stdin: "null" }).output()).success;
  } catch {
    return false;
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

function tryTo(action: () => void): void {
  try {
    action();
  } catch {
    // it has ended already
  }
}
