/**
 * Starts the processes of a campaign with no more permissions than they need, and writes down what they say.
 *
 * @module
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Call, Operation, Result, Seen } from "./history.ts";

/** Where the processes of a team come from, and what they may do. */
export interface Ground {
  readonly url: string;
  readonly permissions: readonly string[];
  /** The directory that holds `src/` and `tests/proof/`: this one, or a variant of it. */
  readonly root: string;
}

/** The one that this module is in. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A process that makes calls. */
export interface Caller {
  readonly name: string;
  readonly operations: Operation[];
  /** When it has ended, and all it said is written down. */
  readonly ended: Promise<void>;
  /** kill −9. */
  kill(): void;
}

/** @param mostBlocks of 512 bytes, that a file may have: beyond them the disk is full. */
function spawn(args: readonly string[], { permissions, root }: Ground, mostBlocks?: number): Deno.ChildProcess {
  const flags = ["run", "-q", "--no-lock", "--no-prompt", "--unstable-kv", ...permissions];
  const words = [...flags, join(root, "tests/proof/worker.ts"), ...args];
  const [command, given] = mostBlocks === undefined
    ? [Deno.execPath(), words]
    : ["sh", ["-c", `trap '' XFSZ; ulimit -f ${mostBlocks}; exec "$@"`, "sh", Deno.execPath(), ...words]];
  return new Deno.Command(command, {
    args: given,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // it has ended already
  }
}

/** A line that was cut off by a kill was not said. */
async function* lines(child: Deno.ChildProcess) {
  let text = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    const parts = (text + chunk).split("\n");
    text = parts.pop() ?? "";
    for (const part of parts) yield JSON.parse(part);
  }
}

/** Starts a process that makes calls. */
export function startCaller(ground: Ground, name: string, args: readonly string[], mostBlocks?: number): Caller {
  const child = spawn(["call", ground.url, name, ...args], ground, mostBlocks);
  const operations: Operation[] = [];
  const hear = async (): Promise<void> => {
    const open = new Map<string, { readonly call: Call; readonly invokedAt: number }>();
    const note = (label: string, returnedAt: number, result: Result) => {
      const asked = open.get(label);
      if (asked !== undefined) operations.push({ label, process: name, returnedAt, result, ...asked });
      open.delete(label);
    };
    for await (const { label, call, invokedAt, returnedAt, result } of lines(child)) {
      if (call !== undefined) open.set(label, { call, invokedAt });
      else note(label, returnedAt, result);
    }
    for (const label of [...open.keys()]) note(label, Infinity, { is: "unknown" });
    await child.status;
  };
  return { name, operations, ended: hear(), kill: () => kill(child) };
}

/** A stream of events that one process after the other goes on with. */
export class Listener implements AsyncDisposable {
  readonly events: Seen[] = [];
  #child: Deno.ChildProcess | undefined;
  #hearing: Promise<void> = Promise.resolve();
  #cursor = "";

  constructor(readonly ground: Ground) {}

  /** Begins, or goes on where the one before was killed. */
  async start(): Promise<void> {
    const child = spawn(["listen", this.ground.url, this.#cursor], this.ground);
    this.#child = child;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#hearing = (async () => {
      for await (const { seen, cursor, listening } of lines(child)) {
        if (listening) resolve();
        else {
          this.events.push(seen);
          this.#cursor = cursor;
        }
      }
    })();
    await promise;
  }

  async kill(): Promise<void> {
    if (this.#child === undefined) return;
    kill(this.#child);
    await this.#hearing;
    await this.#child.status;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}
