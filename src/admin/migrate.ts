/**
 * From one store to another, of whatever engine.
 *
 * @module
 */

import type { Maintenance } from "../backends/maintenance.ts";
import { exportStore } from "./export.ts";
import { importLines, type ImportOptions, type ImportReport } from "./import.ts";

/** What to migrate, and how. */
export interface MigrateOptions extends ImportOptions {
  /** Only the documents of this user. Absent: of all. */
  readonly user?: string;
}

/**
 * Copies every document with its whole past: an export that goes straight into an import, with no file between. Lines in
 * the report are those of that export. Running it again takes in what has come since, and leaves alone what is there.
 *
 * @throws {BackendError} if either engine fails. What was taken in before stays.
 */
export function migrate(
  source: Maintenance,
  target: Maintenance,
  { user, ...options }: MigrateOptions = {},
): Promise<ImportReport> {
  return importLines(exportStore(source, { user }), target, options);
}
