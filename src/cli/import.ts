/**
 * `import`: takes an export in, or a database of the Python package.
 *
 * @module
 */

import { importLines, type ImportProgress } from "../admin/import.ts";
import { toLines } from "../admin/lines.ts";
import { readPythonDatabase } from "../admin/python.ts";
import { openMaintenance } from "../backends/open.ts";
import { BackendError } from "../document/errors.ts";
import type { Call } from "./call.ts";
import { backendOf, maxStateBytesOf } from "./flags.ts";
import { printReport } from "./import_report.ts";
import { startProgress } from "./progress.ts";

/** What every SQLite file begins with (https://sqlite.org/fileformat.html, 1.3). */
const SQLITE_MAGIC = "SQLite format 3\0";

/** Takes it in. Answers 1 if anything was refused, or the export is not whole. */
export async function importFrom(call: Call): Promise<number> {
  const [path = "-"] = call.arguments;
  const maxStateBytes = await maxStateBytesOf(call);
  const source = await openSource(path);
  const dryRun = call.isSet("dry-run");
  await using target = await openMaintenance(await backendOf(call));
  const progress = startProgress();
  const onProgress = ({ line, adopted, existing, refused }: ImportProgress) => {
    progress.show(`line ${line}: ${adopted} new, ${existing} there already, ${refused} refused`, source.part());
  };
  const report = await importLines(source.lines, target, { dryRun, maxStateBytes, onProgress });
  progress.end();
  return printReport(report, call);
}

interface Source {
  readonly lines: AsyncIterable<string>;
  /** How much of it was read, from 0 to 1, if that is known. */
  part(): number | undefined;
}

async function openSource(path: string): Promise<Source> {
  if (path === "-") return { lines: toLines(Deno.stdin.readable), part: () => undefined };
  if (await isSqlite(path)) return { lines: readPythonDatabase(path), part: () => undefined };
  const file = await Deno.open(path);
  const { size } = await file.stat();
  let read = 0;
  const counted = file.readable.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        read += chunk.length;
        controller.enqueue(chunk);
      },
    }),
  );
  return { lines: toLines(counted), part: () => size === 0 ? undefined : read / size };
}

/** @throws {BackendError} if the file cannot be read. */
async function isSqlite(path: string): Promise<boolean> {
  try {
    using file = await Deno.open(path);
    const head = new Uint8Array(SQLITE_MAGIC.length);
    const length = await file.read(head);
    return length === head.length && new TextDecoder("latin1").decode(head) === SQLITE_MAGIC;
  } catch (error) {
    throw new BackendError(`The file ${path} cannot be read.`, { cause: error });
  }
}
