import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { openSqliteBackend } from "../../src/backends/sqlite.ts";
import { openSqliteMaintenance } from "../../src/backends/sqlite/maintenance.ts";
import type { MaintenanceTarget } from "../contract/maintenance.ts";
import { type Ground, type Planted, plantedCases } from "./planted.ts";

interface Target extends MaintenanceTarget {
  run(sql: string, ...parameters: SQLInputValue[]): void;
}

async function makeTarget(): Promise<Target> {
  const directory = await Deno.makeTempDir();
  const options = { path: join(directory, "state.db"), synchronous: "normal" } as const;
  return {
    open: () => openSqliteBackend(options),
    maintain: () => openSqliteMaintenance(options),
    run: (sql, ...parameters) => {
      using database = new DatabaseSync(options.path);
      database.prepare(sql).run(...parameters);
    },
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}

const OF = "doc = (SELECT doc FROM mcpstate_document WHERE id = ?)";
const NEWEST = "version = (SELECT max(version) FROM mcpstate_keyframe)";
const onLog = (sql: string) => (target: Target, { log }: Ground) => target.run(sql, log);
const plain = (sql: string) => (target: Target) => target.run(sql);

const FAULTS: readonly Planted<Target>[] = [
  {
    name: "a flipped byte in a keyframe",
    plant: plain(`UPDATE mcpstate_keyframe SET body = replace(body, '"lines":[2', '"lines":[3') WHERE ${NEWEST}`),
    told: [["log", /^The keyframe of version \d+ holds another state than the journal gives\.$/]],
  },
  {
    name: "a lost keyframe",
    plant: plain(`DELETE FROM mcpstate_keyframe WHERE ${NEWEST}`),
    told: [["log", /^Reading is said to start at version \d+, and no keyframe is kept there\.$/]],
  },
  {
    name: "a missing entry",
    plant: onLog(`DELETE FROM mcpstate_entry WHERE version = 13 AND ${OF}`),
    told: [["log", /^Entry 13 is missing\.$/], ["log", /turn 13, and no entry/]],
    left: [["log", /^Entry 13 is missing\.$/], ["log", /turn 13, and no entry/]],
  },
  {
    name: "a head ahead of its journal",
    plant: onLog("UPDATE mcpstate_document SET version = 32, write_id = 'w32' WHERE id = ?"),
    told: [["log", /^The head is at version 32, and the journal ends with 31\.$/]],
    left: [["log", /^The head is at version 32, and the journal ends with 31\.$/]],
  },
  {
    name: "a wrong offset in the head",
    plant: onLog("UPDATE mcpstate_document SET journal_offset = journal_offset + 1 WHERE id = ?"),
    told: [["log", /^The head says \d+ for its offset/]],
  },
  {
    name: "a wrong size in the head",
    plant: onLog("UPDATE mcpstate_document SET bytes = bytes - 1, base_bytes = 1 WHERE id = ?"),
    told: [["log", /^The head says \d+ for its bytes/], ["log", /^The head says 1 for its base's bytes/]],
  },
  {
    name: "a lost row of the index of turns",
    plant: onLog(`DELETE FROM mcpstate_turn WHERE turn = 13 AND ${OF}`),
    told: [["log", /^Turn 13 ended with version 13, and the index of turns says nothing of it\.$/]],
  },
  {
    name: "a wrong row of the index of turns",
    plant: onLog(`UPDATE mcpstate_turn SET version = 12 WHERE turn = 13 AND ${OF}`),
    told: [["log", /^Turn 13 ended with version 13, and the index of turns says 12\.$/]],
  },
  {
    name: "a wrong counter",
    plant: plain("UPDATE mcpstate_user SET live = 7"),
    told: [["nobody", /^The user has 2 live documents and is counted to have 7\.$/]],
  },
  {
    name: "lost counters",
    plant: plain("DELETE FROM mcpstate_user"),
    told: [["nobody", /^The user has documents and no counters\.$/]],
  },
  {
    name: "a document that no sweep will bury",
    plant: (target, { trip }) => target.run("UPDATE mcpstate_document SET due_at = NULL WHERE id = ?", trip),
    told: [["trip", /^No sweep will find it when it ends/]],
  },
  {
    name: "a tombstone that no sweep will forget",
    plant: (target, { gone }) => target.run("UPDATE mcpstate_document SET due_at = NULL WHERE id = ?", gone),
    told: [["gone", /^No sweep will find it when it ends/]],
  },
  {
    name: "an unreadable head",
    plant: onLog("UPDATE mcpstate_document SET version = 'x' WHERE id = ?"),
    told: [["log", /^The record of the document is damaged \(version\)\.$/]],
    left: [["log", /^The record of the document is damaged \(version\)\.$/]],
  },
  {
    name: "keyframes of nobody",
    plant: plain("INSERT INTO mcpstate_keyframe (doc, version, write_id, bytes, body) VALUES (999, 1, 'w', 2, '{}')"),
    told: [["nobody", /^The table mcpstate_keyframe has 1 rows that belong to no document\.$/]],
  },
  {
    name: "an entry that does not fold",
    plant: onLog(
      `UPDATE mcpstate_entry SET body = replace(body, '"replace"', '"rep1ace"') WHERE version = 13 AND ${OF}`,
    ),
    told: [["log", /^Entry 13 does not fold/]],
    left: [["log", /^Entry 13 does not fold/]],
  },
];

plantedCases("SQLite", makeTarget, FAULTS);
