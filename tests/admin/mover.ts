/**
 * Moves a store in a process of its own, which can be killed: `mover.ts FROM TO [HOLD]`. `FROM` is a URL, or the file of an
 * export. Says after each document how many are in; comes to a stop before the one of number `HOLD`.
 *
 * @module
 */

import { exportStore } from "../../src/admin/export.ts";
import { importLines } from "../../src/admin/import.ts";
import { toLines } from "../../src/admin/lines.ts";
import { openMaintenance } from "../../src/backends/open.ts";

/** What is said after a document, and at the end. */
export interface Said {
  readonly adopted: number;
  readonly existing: number;
  readonly isComplete?: boolean;
}

async function move(from: string, to: string, hold: number): Promise<void> {
  await using target = await openMaintenance(to);
  const say = (said: Said) => console.log(JSON.stringify(said));
  const onProgress = ({ adopted, existing }: Said) => say({ adopted, existing });
  const take = async (lines: AsyncIterable<string>) => {
    const { adopted, existing, isComplete } = await importLines(holding(lines, hold), target, { onProgress });
    say({ adopted, existing, isComplete });
  };
  if (!from.includes(":")) return await take(toLines((await Deno.open(from)).readable));
  await using source = await openMaintenance(from);
  await take(exportStore(source));
}

async function* holding(lines: AsyncIterable<string>, hold: number): AsyncGenerator<string> {
  let documents = 0;
  for await (const line of lines) {
    if (line.startsWith('{"type":"document"') && ++documents === hold) {
      await new Promise((_) => setInterval(() => {}, 1_000));
    }
    yield line;
  }
}

if (import.meta.main) {
  const [from, to, hold = "0"] = Deno.args;
  await move(from, to, Number(hold));
}
