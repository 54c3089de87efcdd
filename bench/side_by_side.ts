/**
 * Times two ways of doing the same thing in turns, so that a machine whose speed drifts drifts for both.
 *
 * @module
 */

/** One way of doing it. */
export interface Contestant {
  /** Does it once; `i` counts from 0. */
  run(i: number): unknown;
}

/** Times of one contestant, in microseconds. */
export interface Times {
  readonly median: number;
  readonly mean: number;
  readonly p99: number;
}

/** What came of a comparison. */
export interface Comparison {
  readonly name: string;
  readonly ours: Times;
  readonly raw: Times;
  /** Ours by raw. */
  readonly ratio: Times;
  /** What the ratio of medians is to stay within. */
  readonly target?: number;
}

/** Runs both `runs` times in blocks that alternate, after a warm-up. */
export async function compare(
  name: string,
  ours: Contestant,
  raw: Contestant,
  { runs, block = 20, target }: { readonly runs: number; readonly block?: number; readonly target?: number },
): Promise<Comparison> {
  const times = { ours: [] as number[], raw: [] as number[] };
  const warmUp = Math.max(block, Math.ceil(runs / 10));
  for (let i = 0; i < warmUp; i++) {
    await ours.run(i);
    await raw.run(i);
  }
  for (let i = 0; i < runs; i += block) {
    await time(times.ours, ours, warmUp + i, block);
    await time(times.raw, raw, warmUp + i, block);
  }
  const [a, b] = [summarize(times.ours), summarize(times.raw)];
  const ratio = { median: a.median / b.median, mean: a.mean / b.mean, p99: a.p99 / b.p99 };
  return { name, ours: a, raw: b, ratio, target };
}

async function time(times: number[], contestant: Contestant, from: number, count: number): Promise<void> {
  for (let i = from; i < from + count; i++) {
    const start = performance.now();
    await contestant.run(i);
    times.push((performance.now() - start) * 1000);
  }
}

function summarize(times: readonly number[]): Times {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { median: at(0.5), mean: times.reduce((sum, each) => sum + each, 0) / times.length, p99: at(0.99) };
}

/** Prints comparisons as a table. */
export function print(comparisons: readonly Comparison[]): void {
  const line = (cells: readonly string[]): string =>
    cells.map((cell, i) => i === 0 ? cell.padEnd(52) : cell.padStart(11)).join(" ");
  console.log(line(["", "ours µs", "raw µs", "ratio", "mean", "p99", "target"]));
  for (const { name, ours, raw, ratio, target } of comparisons) {
    const cells = [ours.median, raw.median].map((time) => time.toFixed(1));
    const ratios = [ratio.median, ratio.mean, ratio.p99].map((each) => each.toFixed(2));
    console.log(line([name, ...cells, ...ratios, target === undefined ? "" : `≤ ${target}`]));
  }
}
