/**
 * A research session that moves between a laptop and a phone, and goes on the next day.
 *
 * Every step is a process of its own with a real MCP client, which starts a real server; all they share is a database.
 *
 * ```sh
 * deno run --allow-read --allow-write --allow-env --allow-run examples/research_assistant.ts
 * ```
 *
 * @module
 */

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { fileURLToPath } from "node:url";

/** What a tool answers. */
type Answer = Record<string, unknown>;

/** Calls a tool of a server that keeps its state in `directory`. */
type Call = (tool: string, args: Record<string, unknown>) => Promise<Answer>;

/** What a device does in one conversation: what it gets from the one before, and what it leaves behind. */
const STEPS: Readonly<Record<string, (call: Call, given: Answer) => Promise<Answer>>> = {
  /** Monday, on the laptop: begins a session. */
  async start(call) {
    const { handle, version } = await call("state_save", {
      kind: "research",
      title: "Which city to move to",
      state: { city: "Copenhagen", sources: [], budget: { rent: 1400, currency: "EUR" } },
      ttl_days: 30,
    });
    return { handle, version };
  },

  /** Both devices at once: what is patched always lands. */
  async collect(call, { handle, sources }) {
    const ops = (sources as string[]).map((value) => ({ op: "append", path: "sources", value }));
    const { version } = await call("state_patch", { handle, ops });
    return { handle, version };
  },

  /** Reads it, to edit it. */
  async load(call, { handle }) {
    return await call("state_load", { handle });
  },

  /** Replaces the state, based on the version that was read. */
  async save(call, { handle, state, version, on_conflict }) {
    return await call("state_save", { handle, state, expect_version: version, on_conflict });
  },

  /** Tuesday: looks for what there is, and reads it now and as it was. */
  async resume(call, { yesterday }) {
    const { handles } = await call("state_list", { query: "city" });
    const [{ handle }] = handles as Answer[];
    const now = await call("state_load", { handle });
    const then = await call("state_load", { handle, version: yesterday });
    const { entries } = await call("state_changes", { handle, since_version: yesterday });
    return { now, then, entries };
  },
};

/** Runs one step as a client of a server that it starts. */
async function runStep(device: string, step: string, directory: string, given: Answer): Promise<Answer> {
  const client = new Client({ name: device, version: "1.0.0" });
  const server = fileURLToPath(new URL("../mod.ts", import.meta.url));
  await client.connect(
    new StdioClientTransport({
      command: Deno.execPath(),
      args: [
        "run",
        `--allow-read=${directory}`,
        `--allow-write=${directory}`,
        "--allow-env=HOME,MCPSTATE_BACKEND,MCPSTATE_USER,MCPSTATE_WRITER,MCPSTATE_MAX_STATE_BYTES",
        server,
        "--backend",
        `sqlite:///${directory}/state.db`,
        "--writer",
        device,
      ],
    }),
  );
  try {
    return await STEPS[step](async (name, args) => {
      const { isError, structuredContent, content } = await client.callTool({ name, arguments: args });
      if (isError !== true) return structuredContent as Answer;
      const [block] = content;
      return block?.type === "text" ? JSON.parse(block.text).error : {};
    }, given);
  } finally {
    await client.close();
  }
}

/** Runs a step in a process of its own. */
async function inProcess(device: string, step: string, directory: string, given: Answer = {}): Promise<Answer> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--allow-read",
      "--allow-env",
      "--allow-run",
      fileURLToPath(import.meta.url),
      device,
      step,
      directory,
      JSON.stringify(given),
    ],
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`${device} could not ${step}`);
  return JSON.parse(new TextDecoder().decode(stdout));
}

function show(text: string, value?: unknown): void {
  console.log(value === undefined ? text : `${text} ${JSON.stringify(value)}`);
}

/** The whole story. */
async function main(): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "mcpstate-research-" });
  try {
    show("Monday.");
    const { handle } = await inProcess("laptop", "start", directory);
    show("  laptop starts a session: version 1. The conversation carries", String(handle).replace(/_.*/, "_…"));

    await Promise.all([
      inProcess("laptop", "collect", directory, { handle, sources: ["kk.dk/housing", "cph.dk/rents"] }),
      inProcess("phone", "collect", directory, { handle, sources: ["photo of a notice in Nørrebro"] }),
    ]);
    const read = await inProcess("laptop", "load", directory, { handle });
    show("  laptop and phone collect at once; both land:", (read.state as { sources: string[] }).sources.toSorted());

    const state = read.state as { budget: Answer };
    const onPhone = { ...state, city: "Aarhus" };
    const saved = await inProcess("phone", "save", directory, { handle, version: read.version, state: onPhone });
    show(`  phone decides on Aarhus: version ${saved.version}.`);

    const onLaptop = { ...state, budget: { ...state.budget, rent: 1100 } };
    const edit = { handle, version: read.version, state: onLaptop };
    const refused = await inProcess("laptop", "save", directory, edit);
    show(`  laptop lowers the rent on version ${read.version}, and is told:`, refused.code);
    const merged = await inProcess("laptop", "save", directory, { ...edit, on_conflict: "merge" });
    show(`  laptop saves again with on_conflict "merge": version ${merged.version}, merged:`, merged.merged);

    show("Tuesday, in another conversation.");
    const { now, then, entries } = await inProcess("phone", "resume", directory, { yesterday: read.version });
    show("  phone finds the session and reads it:", pick(now));
    show(`  as of version ${read.version}, before the decision:`, pick(then));
    for (const { version, writer, paths } of entries as Answer[]) {
      show(`  version ${version}, by ${writer}, changed`, paths);
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

function pick(answer: unknown): Answer {
  const { state } = answer as { state: { city: string; budget: { rent: number } } };
  return { city: state.city, rent: state.budget.rent };
}

if (import.meta.main) {
  const [device, step, directory, given] = Deno.args;
  if (step === undefined) await main();
  else console.log(JSON.stringify(await runStep(device, step, directory, JSON.parse(given))));
}
