/**
 * Compares the index of a document's turns with its entries.
 *
 * @module
 */

import type { TurnEnd, Unreadable } from "../backends/maintenance.ts";

/** What the entries of a document tell. */
export interface Told {
  /** The last version of each turn. */
  readonly turns: ReadonlyMap<number, number>;
  /** Versions whose entries cannot be read, so their turns are not known. */
  readonly lost: ReadonlySet<number>;
}

/** What an index says otherwise than the entries, each in one sentence. */
export async function compareTurns(index: AsyncIterable<TurnEnd | Unreadable>, told: Told): Promise<string[]> {
  const problems: string[] = [];
  const indexed = new Map<number, number>();
  for await (const row of index) {
    if ("unreadable" in row) problems.push(`A row of the index of turns ${row.unreadable}.`);
    else indexed.set(row.turn, row.version);
  }
  for (const [turn, version] of told.turns) {
    const said = indexed.get(turn);
    if (said === version || said !== undefined && told.lost.has(said)) continue;
    problems.push(
      `Turn ${turn} ended with version ${version}, and the index of turns says ${said ?? "nothing of it"}.`,
    );
  }
  for (const [turn, version] of indexed) {
    if (told.turns.has(turn) || told.lost.has(version)) continue;
    problems.push(`The index of turns names turn ${turn}, and no entry belongs to it.`);
  }
  return problems;
}
