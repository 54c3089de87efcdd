/**
 * Measures everything beside the bare engine and writes it down: a table in `bench/RESULTS.md`, charts in `bench/charts`.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { type Bytes, ofCalls, onDisk, toRedis } from "./bytes.ts";
import { chart } from "./charts.ts";
import { type Engine, ENGINES } from "./engines.ts";
import { byDocuments, byHistory, bySize, type Growth } from "./growth.ts";
import { type Throughput, timeHttp } from "./http.ts";
import { timeKv } from "./kv.ts";
import { type Memory, memoryOf } from "./memory.ts";
import { timeRedis } from "./redis.ts";
import { type Comparison, print } from "./side_by_side.ts";
import { timeSqlite } from "./sqlite.ts";
import { timeStdio } from "./stdio.ts";
import { byWriters } from "./writers.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));

async function grow(measure: (engine: Engine) => Promise<Growth[]>): Promise<Growth[]> {
  const curves: Growth[] = [];
  for (const open of ENGINES) {
    await using engine = await open();
    curves.push(...await measure(engine));
  }
  return curves;
}

/** @param words is how many columns at the left are no figures. */
function table(head: readonly string[], rows: readonly (readonly string[])[], words = 1): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map((_, i) => i < words ? "---" : "---:")), ...rows.map(line)].join("\n");
}

function comparisons(engine: string, results: readonly Comparison[]): string[][] {
  return results.map(({ name, ours, raw, ratio, target }) => {
    const [what, beside] = name.split(" | ");
    return [
      engine,
      what,
      beside,
      ours.median.toFixed(1),
      raw.median.toFixed(1),
      ...[ratio.median, ratio.mean, ratio.p99].map((each) => each.toFixed(2)),
      target === undefined ? "" : `≤ ${target.toFixed(2)}`,
    ];
  });
}

function throughput(results: readonly Throughput[]): string {
  return table(
    ["over HTTP", "ours, calls/s", "bare server, calls/s", "ratio", "target", "CPU µs a call, ours", "bare"],
    results.map(({ name, ours, bare, ratios, target }) => [
      name,
      ours.perSecond.toFixed(0),
      bare.perSecond.toFixed(0),
      ratios[1].toFixed(2),
      `≥ ${target}`,
      ours.cpu.toFixed(0),
      bare.cpu.toFixed(0),
    ]),
  );
}

function growth(curves: readonly Growth[]): string {
  return table(
    ["engine", "operation", "ours µs / bare µs, as it grows"],
    curves.map(({ engine, operation, points }) => [
      engine,
      operation,
      points.map(({ x, ours, raw }) => `${x.toLocaleString("en")}: ${ours.toFixed(0)} / ${raw.toFixed(0)}`).join(", "),
    ]),
  );
}

function bytes(found: readonly Bytes[]): string {
  return table(["", "ours", "bare"], found.map(({ name, ours, raw }) => [name, ours.toFixed(0), raw.toFixed(0)]));
}

function memory(found: readonly Memory[]): string {
  return table(
    ["cache, MiB", "before", "after each round"],
    found.map(({ cacheMiB, resident: [before, ...after] }) => [
      String(cacheMiB),
      before.toFixed(0),
      after.map((each) => each.toFixed(0)).join(", "),
    ]),
  );
}

if (import.meta.main) {
  const rows: string[][] = [];
  for (
    const [engine, measure] of Object.entries({
      SQLite: timeSqlite,
      "Deno KV": timeKv,
      Redis: timeRedis,
      stdio: timeStdio,
    })
  ) {
    const results = await measure();
    console.log(engine);
    print(results);
    rows.push(...comparisons(engine, results));
  }
  const http = await timeHttp(0);
  const grown = [
    { file: "size", title: "By the size of the document", unit: "bytes", curves: await grow(bySize) },
    { file: "history", title: "By the length of the history", unit: "versions", curves: await grow(byHistory) },
    { file: "documents", title: "By the number of documents", unit: "documents", curves: await grow(byDocuments) },
    {
      file: "writers",
      title: "By the number of writers of one document",
      unit: "writers",
      curves: await grow(byWriters),
    },
  ];
  await Deno.mkdir(`${HERE}/charts`, { recursive: true });
  for (const { file, title, unit, curves } of grown) {
    await Deno.writeTextFile(`${HERE}/charts/${file}.svg`, chart(title, unit, curves));
  }
  const cpu = navigator.hardwareConcurrency;
  const text = `# What it costs, beside the bare engine

Made by \`deno task bench\` with Deno ${Deno.version.deno} on ${cpu} cores, both sides in turns in one run. Times are medians in
microseconds; a ratio is ours by the bare engine's, of medians, means and 99th percentiles.

${table(["", "operation", "beside", "ours µs", "bare µs", "ratio", "mean", "p99", "target"], rows, 3)}

${throughput(http)}

${
    grown.map(({ title, file, curves }) => `## ${title}\n\n![${title}](charts/${file}.svg)\n\n${growth(curves)}`).join(
      "\n\n",
    )
  }

## Bytes

${bytes([...await onDisk(), ...await toRedis(), ...await ofCalls()])}

## Memory

Resident MiB of a process that reads 10,000 documents of 10 KB, round after round, through a cache of so many MiB.

${memory(await memoryOf([8, 64]))}
`;
  await Deno.writeTextFile(`${HERE}/RESULTS.md`, text);
  await new Deno.Command(Deno.execPath(), { args: ["fmt", "-q", `${HERE}/RESULTS.md`] }).output();
  console.log(text);
}
