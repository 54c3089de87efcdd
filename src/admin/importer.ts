/**
 * Goes through the lines of an export and decides, line by line, what becomes of the document they are of.
 *
 * @module
 */

import type { Maintenance } from "../backends/maintenance.ts";
import { type DocumentKey, isTombstone } from "../backends/records.ts";
import { InvalidInput, StateTooLarge } from "../document/errors.ts";
import type { JsonObject } from "../document/json.ts";
import type { ExportCounts } from "./format.ts";
import type { ImportOptions, ImportReport, Refusal } from "./import.ts";
import { Incoming } from "./incoming.ts";
import { type DocumentLine, type Line, parseJson, toLine } from "./parse.ts";

/** The document that lines are of: none, one that was passed over or refused, or one that is being collected. */
type Current =
  | { readonly state: "none" }
  | { readonly state: "over" }
  | { readonly state: "incoming"; readonly line: number; readonly head: DocumentLine; readonly incoming: Incoming };

/** Takes the lines after the header, in order. */
export class Importer {
  readonly #target: Maintenance;
  readonly #options: Required<Omit<ImportOptions, "signal">>;
  readonly #refused: Refusal[] = [];
  readonly #counts = { adopted: 0, existing: 0, ended: 0, tombstones: 0 };
  readonly #read = { documents: 0, tombstones: 0, unreadable: 0 };
  #line = 1;
  #current: Current = { state: "none" };
  #announced: ExportCounts | undefined;

  /** With all options decided. */
  constructor(target: Maintenance, options: Required<Omit<ImportOptions, "signal">>) {
    this.#target = target;
    this.#options = options;
  }

  /** Takes the next line. What is wrong with it is remembered. @throws {BackendError} if the engine fails. */
  async take(text: string): Promise<void> {
    this.#line++;
    if (text.trim() === "") return;
    let object: JsonObject | undefined;
    try {
      object = parseJson(text);
      this.#turnTo(object);
      await this.#step(toLine(object));
    } catch (error) {
      if (!(error instanceof InvalidInput || error instanceof StateTooLarge)) throw error;
      this.#refuseLine(object, error.message);
    }
  }

  /** What came of it all. */
  end(): ImportReport {
    this.#abandon("The export ends before this document does.");
    const { documents, tombstones, unreadable } = this.#read;
    const isComplete = this.#announced?.documents === documents && this.#announced.tombstones === tombstones &&
      this.#announced.unreadable === unreadable;
    return { ...this.#counts, refused: this.#refused, isComplete };
  }

  /** Leaves the document before where a line begins another, however damaged that line may be. */
  #turnTo({ type }: JsonObject): void {
    if (this.#announced !== undefined) throw new InvalidInput("line", "The line comes after the end.");
    if (type === "keyframe" || type === "entry") return;
    this.#abandon("The document has fewer entries than its head says.");
    if (type === "document") this.#read.documents++;
    else if (type === "tombstone") this.#read.tombstones++;
    else if (type === "unreadable") this.#read.unreadable++;
  }

  async #step(line: Line): Promise<void> {
    switch (line.type) {
      case "document":
        return await this.#begin(line);
      case "keyframe":
      case "entry":
        return await this.#collect(line);
      case "tombstone":
        if (await this.#isThere(line)) return;
        if (!this.#options.dryRun) await this.#target.adopt(line, line.tombstone);
        this.#counts.tombstones++;
        return this.#tell();
      case "unreadable":
        return this.#refuse(this.#line, line, `It could not be exported: ${line.problem.slice(0, 500).toWellFormed()}`);
      case "end":
        this.#announced = line.counts;
    }
  }

  async #begin(head: DocumentLine): Promise<void> {
    const incoming = new Incoming(head);
    this.#current = await this.#isThere(head)
      ? { state: "over" }
      : { state: "incoming", line: this.#line, head, incoming };
  }

  async #collect(line: Line & { readonly type: "keyframe" | "entry" }): Promise<void> {
    const current = this.#current;
    if (current.state === "over") return;
    if (current.state === "none") throw new InvalidInput("line", "The line belongs to no document.");
    const { head, incoming } = current;
    if (line.type === "keyframe") return incoming.keyframe(line);
    incoming.entry(line);
    if (!incoming.isComplete) return;
    const { dryRun, maxStateBytes } = this.#options;
    const adoption = incoming.finish(maxStateBytes);
    this.#current = { state: "none" };
    if (dryRun || await this.#target.adopt(head, adoption) === "adopted") this.#counts.adopted++;
    else this.#counts.existing++; // somebody else was faster
    this.#tell();
  }

  /** Whether there is such a document already; if so, it is counted. */
  async #isThere(key: DocumentKey): Promise<boolean> {
    const record = await this.#target.document(key);
    if (record === undefined) return false;
    if (!("unreadable" in record) && isTombstone(record)) this.#counts.ended++;
    else this.#counts.existing++;
    this.#tell();
    return true;
  }

  /** Refuses a document of which no more will come. */
  #abandon(reason: string): void {
    const current = this.#current;
    this.#current = { state: "none" };
    if (current.state === "incoming") this.#refuse(current.line, current.head, reason);
  }

  /** Refuses the document that a line is of, once; a line that cannot be read at all may have been any. */
  #refuseLine(object: JsonObject | undefined, reason: string): void {
    const current = this.#current;
    if (current.state === "over" && object !== undefined) return;
    this.#current = { state: "over" };
    this.#refuse(this.#line, current.state === "incoming" ? current.head : object ?? {}, reason);
  }

  #refuse(line: number, { user, id }: { readonly user?: unknown; readonly id?: unknown }, reason: string): void {
    const named = { ...typeof user === "string" ? { user } : {}, ...typeof id === "string" ? { id } : {} };
    this.#refused.push({ ...named, line, reason });
    this.#tell();
  }

  #tell(): void {
    const { adopted, existing, ended } = this.#counts;
    const refused = this.#refused.length;
    this.#options.onProgress({ line: this.#line, adopted, existing: existing + ended, refused });
  }
}
