/**
 * A real PostgreSQL server for tests: on a free loopback port, with a directory of its own, ended by its process id.
 *
 * @module
 */

import { join } from "node:path";

/** A server that this process has started. */
export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
}

/** PostgreSQL does not run as root: there, Debian's own user runs it. */
const IS_ROOT = Deno.build.os !== "windows" && Deno.uid() === 0;
const OWNER = "postgres";

const running = new Set<Deno.ChildProcess>();
const directories = new Set<string>();
globalThis.addEventListener("unload", () => {
  for (const child of running) tryTo(() => child.kill("SIGQUIT"));
  for (const directory of directories) tryTo(() => Deno.removeSync(directory, { recursive: true }));
});

/** Starts a server. What it keeps need not survive a power cut. */
export async function startPostgres(): Promise<PostgresServer> {
  const bin = await requirePostgres();
  const directory = await Deno.makeTempDir({ prefix: "mcpstate-postgres-" });
  directories.add(directory);
  await Deno.chmod(directory, 0o755);
  const data = join(directory, "data");
  await Deno.mkdir(data, { mode: 0o700 });
  if (IS_ROOT) await run("chown", [OWNER, data]);
  await run(...asOwner(join(bin, "initdb"), ["-D", data, "-U", OWNER, "-A", "trust", "-E", "UTF8", "--no-sync"]));
  for (let attempt = 1;; attempt++) {
    try {
      return await start(bin, directory, data);
    } catch (error) {
      if (attempt === 5) throw error; // the port was taken meanwhile
    }
  }
}

async function start(bin: string, directory: string, data: string): Promise<PostgresServer> {
  const port = freePort();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "max_connections=50"];
  const options = settings.flatMap((setting) => ["-c", setting]);
  const [command, args] = asOwner(join(bin, "postgres"), ["-D", data, "-p", String(port), ...options]);
  // Its own words tell when it is ready: a port that answers may be another's.
  const child = new Deno.Command(command, { args, stdin: "null", stdout: "null", stderr: "piped" }).spawn();
  running.add(child);
  let log = "";
  let isReady = false;
  const reading = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      if (isReady) continue;
      log += text;
      isReady = log.includes("ready to accept connections");
    }
  })();
  let ended = false;
  const status = child.status.then(() => {
    ended = true;
    running.delete(child);
  });
  for (const deadline = Date.now() + 30_000; !isReady && !ended && Date.now() < deadline;) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const stop = async () => {
    // First it lets connections that are closing close; one that was left open must not keep it.
    tryTo(() => child.kill("SIGTERM"));
    const timer = setTimeout(() => tryTo(() => child.kill("SIGINT")), 5_000);
    await status;
    clearTimeout(timer);
    await reading;
  };
  if (!isReady) {
    await stop();
    throw new Error(`postgres did not start: ${log}`);
  }
  return {
    port,
    url: `postgresql://${OWNER}@127.0.0.1:${port}/postgres`,
    [Symbol.asyncDispose]: async () => {
      await stop();
      directories.delete(directory);
      await Deno.remove(directory, { recursive: true }).catch(() => {});
    },
  };
}

function asOwner(command: string, args: readonly string[]): [string, string[]] {
  return IS_ROOT
    ? ["setpriv", ["--reuid", OWNER, "--regid", OWNER, "--clear-groups", command, ...args]]
    : [command, [...args]];
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args: [...args], cwd: "/", stdin: "null" }).output();
  if (!success) throw new Error(`${command} failed: ${new TextDecoder().decode(stderr)}`);
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}

/** The directory of the programs. Installs them where that is possible, or says what to install. */
async function requirePostgres(): Promise<string> {
  const found = await findPostgres();
  if (found !== undefined) return found;
  await new Deno.Command("sh", { args: [new URL("../.ci/services.sh", import.meta.url).pathname] }).output();
  const installed = await findPostgres();
  if (installed !== undefined) return installed;
  throw new Error(
    "These tests start PostgreSQL 12 or newer. Install it: apt-get install postgresql, or brew install postgresql.",
  );
}

async function findPostgres(): Promise<string | undefined> {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  const debian = "/usr/lib/postgresql";
  const versions = await Array.fromAsync(Deno.readDir(debian)).catch(() => []);
  for (const { name } of versions.toSorted((a, b) => Number(b.name) - Number(a.name))) {
    folders.push(join(debian, name, "bin"));
  }
  for (const folder of folders) {
    const [initdb, postgres] = ["initdb", "postgres"].map((program) => Deno.stat(join(folder, program)));
    if ((await Promise.allSettled([initdb, postgres])).every(({ status }) => status === "fulfilled")) return folder;
  }
  return undefined;
}

function tryTo(action: () => void): void {
  try {
    action();
  } catch {
    // it has ended already
  }
}
