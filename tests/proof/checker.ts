/**
 * Decides whether a history could have come from one journal that everybody reads and writes in turn (linearizability).
 *
 * Every answer carries its version and every entry the label of the call that made it, so each rule is one pass. An
 * anomaly is a sentence that names the rule, the document and the calls.
 *
 * @module
 */

import type { Call, History, Journal, Operation, Recorded, Watch } from "./history.ts";
import { copy, digest, edited, type Loose, patched } from "./reference.ts";

/** Something that cannot be. */
export interface Anomaly {
  /** Which rule it breaks, in a word or two. */
  readonly rule: string;
  /** What happened. */
  readonly what: string;
}

/** Answers that say that a document is no more. */
const GONE: readonly string[] = ["handle_not_found", "handle_expired"];

/** All anomalies of a history. */
export function check(history: History): Anomaly[] {
  return history.rewoundAt === undefined ? checkWhole(history) : checkWhole(forgetLost(history, history.rewoundAt));
}

/** What a rewound store still owes: of what was asked before only that it has no half an effect. */
function forgetLost(history: History, rewoundAt: number): History {
  const there = new Set(history.journals.flatMap(({ entries }) => entries.map(({ writer }) => writer)));
  const asked = new Map(history.operations.map(({ label, invokedAt }) => [label, invokedAt]));
  const isOwed = ({ writer = "", seenAt }: Watch["events"][number]) =>
    seenAt >= rewoundAt && (there.has(writer) || (asked.get(writer) ?? Infinity) >= rewoundAt || writer === "");
  return {
    ...history,
    operations: history.operations.map((operation) =>
      operation.invokedAt < rewoundAt ? { ...operation, result: { is: "unknown" } } : operation
    ),
    watches: history.watches.map((watch) => ({ ...watch, events: watch.events.filter(isOwed) })),
    mayHaveGaps: true,
  };
}

function checkWhole(history: History): Anomaly[] {
  const found: Anomaly[] = [];
  const report = (rule: string, what: string) => void found.push({ rule, what });
  const calls = Map.groupBy(history.operations, ({ label }) => label);
  const documents = Map.groupBy(history.operations, handleOf);
  const timelines = new Map<string, Timeline>();
  const labels = new Map<string, string>();
  for (const journal of history.journals) {
    const timeline = new Timeline(journal, { calls, labels, rewoundAt: history.rewoundAt ?? -Infinity, report });
    timelines.set(journal.handle, timeline);
    timeline.check();
    checkAnswers(timeline, documents.get(journal.handle) ?? [], report);
  }
  for (const [handle, operations] of documents) {
    if (handle === undefined) continue;
    checkOrder(handle, operations, calls, timelines.get(handle), history.slack, report);
    checkEnd(handle, operations, timelines.has(handle), history, report);
    checkExpiry(handle, operations, calls, history, report);
  }
  checkRefusals(history, report);
  checkRequests(calls, report);
  checkLists(history, documents, report);
  for (const watch of history.watches) checkWatch(watch, history, calls, timelines, report);
  return found;
}

type Report = (rule: string, what: string) => void;

function handleOf({ call, result }: Operation): string | undefined {
  if ("handle" in call) return call.handle;
  return result.is === "version" ? result.handle : undefined;
}

function isWrite(call: Call): boolean {
  return call.do === "mint" || call.do === "patch" || call.do === "save" || call.do === "restore";
}

/** What a journal is judged by. */
interface Surroundings {
  readonly calls: ReadonlyMap<string, readonly Operation[]>;
  /** The labels of all entries that were met so far, and where. */
  readonly labels: Map<string, string>;
  readonly rewoundAt: number;
  readonly report: Report;
}

/** A journal with the state of every version, folded by the reference. */
class Timeline {
  readonly digests: string[] = [];
  readonly #states: Loose[] = [];

  constructor(readonly journal: Journal, readonly around: Surroundings) {}

  get handle(): string {
    return this.journal.handle;
  }

  entry(version: number): Recorded | undefined {
    return this.journal.entries[version - 1];
  }

  /** The journal by itself: contiguous, in order, each entry by one call and just what that call asks. */
  check(): void {
    const { calls, labels, rewoundAt, report } = this.around;
    let state: Loose = {};
    let before: Recorded | undefined;
    for (const [i, entry] of this.journal.entries.entries()) {
      const name = `${this.handle} version ${entry.version} by ${entry.writer}`;
      if (entry.version !== i + 1) report("contiguous", `${name} stands where version ${i + 1} should`);
      if (before !== undefined && entry.at < before.at) report("time", `${name} is older than the one before`);
      if (before !== undefined && entry.turn < before.turn) report("turn", `${name} goes back in turns`);
      const other = labels.get(entry.writer);
      if (other !== undefined) report("at most once", `${name} landed before, as ${other}`);
      labels.set(entry.writer, `${this.handle} version ${entry.version}`);
      const operations = calls.get(entry.writer);
      if (operations === undefined) report("known", `${name} was asked for by nobody`);
      else if (operations.every(({ result }) => result.is === "refused")) {
        report("refused", `${name} was refused, and landed`);
      }
      try {
        state = patched(state, entry.patch);
      } catch (error) {
        return report("fold", `${name} does not fit what is before it: ${error}`);
      }
      this.#states.push(copy(state));
      this.digests.push(digest(state));
      // What was built upon a version that is lost meets another one under its number.
      if (operations !== undefined && operations[0].invokedAt >= rewoundAt) {
        this.#checkEffect(entry, operations[0].call);
      }
      before = entry;
    }
    if (this.digests.at(-1) !== this.journal.digest) {
      report("fold", `${this.handle} reads as something else than its journal`);
    }
  }

  #checkEffect({ version, writer }: Recorded, call: Call): void {
    const { report } = this.around;
    const name = `${this.handle} version ${version} by ${writer}`;
    const wanted = this.#wanted(version, call);
    if (wanted === undefined) return report("effect", `${name} comes of a ${call.do}, which writes nothing here`);
    if (digest(wanted) !== this.digests[version - 1]) {
      report("effect", `${name} is not what its ${call.do} makes of the version before`);
    }
    if ((call.do === "save" && !call.merge || call.do === "restore") && call.expect !== version - 1) {
      report("stale", `${name} was to follow version ${call.expect}`);
    }
  }

  #wanted(version: number, call: Call): unknown {
    if (call.do === "mint") return version === 1 ? call.state : undefined;
    if (version === 1) return undefined;
    const before = this.#states[version - 2];
    if (call.do === "patch" || call.do === "save") return edited(before, call.edits);
    return call.do === "restore" ? this.#states[call.version - 1] : undefined;
  }
}

/** Every answer against the journal: a read at v answers what v wrote, a write is where it was said to be. */
function checkAnswers(timeline: Timeline, operations: readonly Operation[], report: Report): void {
  for (const { label, call, result } of operations) {
    const name = `${call.do} ${label} of ${timeline.handle}`;
    if (result.is === "version") {
      if (timeline.digests[result.version - 1] !== result.digest) {
        report("content", `${name} answered another state of version ${result.version} than its journal has`);
      }
      if (timeline.entry(result.version)?.writer !== result.writer) {
        report("attribution", `${name} answered version ${result.version} by ${result.writer}`);
      }
      const before = timeline.entry(result.version - 1);
      const isDated = before !== undefined && before.at < result.at; // by the clock, and not held back by the one before
      if (isWrite(call) && isDated && result.expiresAt !== undefined && result.at >= result.expiresAt) {
        report("expiry", `${name} landed at ${result.at}, when it had expired at ${result.expiresAt}`);
      }
      if (isWrite(call) && result.writer !== label) {
        report("acknowledged", `${name} was acknowledged as version ${result.version}, which is ${result.writer}'s`);
      }
    } else if (result.is === "changes" && call.do === "changes") {
      for (const [i, change] of result.changes.entries()) {
        const entry = timeline.entry(change.version);
        const isEqual = entry !== undefined && entry.writer === change.writer && entry.at === change.at &&
          digest(entry.patch) === change.digest && change.version === call.since + 1 + i;
        if (!isEqual) report("changes", `${name} told version ${change.version} as it is not, or not in its place`);
      }
      const last = call.since + result.changes.length;
      if (!result.more && last !== result.current) report("changes", `${name} ended at ${last} of ${result.current}`);
    }
  }
}

/** What was known to be current when a call returned, whoever called. */
function currentOf({ call, result }: Operation): number | undefined {
  if (result.is === "changes") return result.current;
  if (result.is === "refused") return result.current;
  // A repeated request answers as the first one did, and a read of an old version says what is current beside it.
  if (result.is === "version") return call.do === "get" ? result.current : result.version;
}

/** Real time: what one call has answered, every later one knows. */
function checkOrder(
  handle: string,
  operations: readonly Operation[],
  calls: ReadonlyMap<string, readonly Operation[]>,
  timeline: Timeline | undefined,
  slack: number,
  report: Report,
): void {
  const byReturn = operations.toSorted((a, b) => a.returnedAt - b.returnedAt);
  let next = 0;
  let known = 0;
  let by = "";
  for (const operation of operations.toSorted((a, b) => a.invokedAt - b.invokedAt)) {
    for (; next < byReturn.length && byReturn[next].returnedAt + slack < operation.invokedAt; next++) {
      const current = currentOf(byReturn[next]);
      if (current !== undefined && current > known) [known, by] = [current, byReturn[next].label];
    }
    const { call, label, result } = operation;
    const current = currentOf(operation);
    if (current === undefined) continue;
    const isRepeated = (calls.get(label)?.length ?? 0) > 1;
    const isOwnWrite = isWrite(call) && result.is === "version" && !isRepeated;
    if (isOwnWrite ? current <= known : current < known && !(isWrite(call) && isRepeated)) {
      report("real time", `${call.do} ${label} of ${handle} met version ${current} after ${by} had met ${known}`);
    }
    const writer = timeline?.entry(current)?.writer;
    const written = writer === undefined ? undefined : calls.get(writer)?.[0];
    if (written !== undefined && written.invokedAt > operation.returnedAt + slack) {
      report("real time", `${call.do} ${label} of ${handle} met version ${current} before it was asked for`);
    }
  }
}

/** An end is final, has a cause, and nothing else makes a document vanish. */
function checkEnd(
  handle: string,
  operations: readonly Operation[],
  isThere: boolean,
  { slack, mayHaveGaps: mayBeLost = false }: History,
  report: Report,
): void {
  const isEnd = ({ result }: Operation) =>
    result.is === "revoked" || result.is === "refused" && GONE.includes(result.code);
  const ends = operations.filter(isEnd).toSorted((a, b) => a.returnedAt - b.returnedAt);
  const [first] = ends;
  if (first === undefined) {
    const wasThere = operations.some(({ result }) => result.is === "version");
    const mayHaveEnded = operations.some(({ call }) => call.do === "revoke" || call.do === "touch" && call.ttlDays);
    if (wasThere && !isThere && !mayHaveEnded && !mayBeLost) report("lost", `${handle} is gone, and nobody ended it`);
    return;
  }
  const cause = operations.find(({ call, invokedAt }) =>
    (call.do === "revoke" || call.do === "touch" && call.ttlDays !== null) && invokedAt <= first.returnedAt + slack
  );
  if (cause === undefined && !mayBeLost) {
    report("lost", `${first.call.do} ${first.label} did not find ${handle}, and nobody ended it`);
  }
  if (isThere) report("end", `${handle} has ended for ${first.label}, and is there in the end`);
  for (const operation of operations) {
    const { call, result, label, invokedAt } = operation;
    if (invokedAt <= first.returnedAt + slack || isEnd(operation)) continue;
    if (result.is === "version" || result.is === "changes") {
      report("end", `${call.do} ${label} found ${handle} after it had ended for ${first.label}`);
    }
  }
  for (const { call, result, label } of ends) {
    if (call.do !== "revoke" || result.is !== "revoked" || call.expect === undefined) continue;
    if (call.expect !== result.version) report("stale", `${label} deleted ${handle} at version ${result.version}`);
  }
  const revoked = ends.filter(({ result }) => result.is === "revoked");
  if (new Set(revoked.map(({ label }) => label)).size > 1) report("end", `${handle} was deleted twice`);
}

/** A document that expired did so after the last of its writes and renewals, when the clock had come that far. */
function checkExpiry(
  handle: string,
  operations: readonly Operation[],
  calls: ReadonlyMap<string, readonly Operation[]>,
  { latest, rewoundAt }: History,
  report: Report,
): void {
  if (latest === undefined || rewoundAt !== undefined) return;
  const changes = operations.filter(({ label, call, result }) =>
    (isWrite(call) || call.do === "touch") && result.is === "version" && calls.get(label)?.length === 1
  );
  changes.sort((a, b) => a.invokedAt - b.invokedAt);
  for (const { call, label, result, returnedAt } of operations) {
    const last = changes.findLast(({ invokedAt }) => invokedAt <= returnedAt);
    if (last === undefined || result.is !== "refused" || result.expiredAt === undefined) continue;
    const clock = latest(last.invokedAt, returnedAt);
    if (result.expiredAt <= clock) continue;
    report(
      "expiry",
      `${call.do} ${label} of ${handle} met an end of ${result.expiredAt}: after ${last.label} it was ${clock} at most`,
    );
  }
}

/** What a caller who makes no mistakes may be refused for. */
const FAIR: readonly string[] = ["stale_write", "handle_not_found", "handle_expired", "backend_error"];

function checkRefusals({ operations, mayHaveGaps = false }: History, report: Report): void {
  for (const { call, label, result } of operations) {
    if (result.is !== "refused") continue;
    const { code, message = "" } = result;
    const isAhead = mayHaveGaps && (code === "invalid_input" || code === "version_not_found");
    if (!FAIR.includes(code) && !isAhead) report("refusal", `${call.do} ${label} was refused: ${code} ${message}`);
    if (message.includes("damaged")) report("damage", `${call.do} ${label} met damage: ${message}`);
  }
}

/** A call and its repetitions have one answer. */
function checkRequests(calls: ReadonlyMap<string, readonly Operation[]>, report: Report): void {
  for (const [label, operations] of calls) {
    const answers = new Set(
      operations.flatMap(({ result }) =>
        result.is === "version" ? `${result.handle} ${result.version} ${result.digest}` : []
      ),
    );
    if (answers.size > 1) report("repeated", `${label} was answered ${[...answers].join(" and ")}`);
  }
}

/** A list shows what was there before it was asked for and had no end, as new as it was. */
function checkLists(
  { operations, slack }: History,
  documents: ReadonlyMap<string | undefined, readonly Operation[]>,
  report: Report,
): void {
  for (const { call, result, label, invokedAt, returnedAt } of operations) {
    if (call.do !== "list" || result.is !== "list") continue;
    for (const [handle, own] of documents) {
      if (handle === undefined) continue;
      const known = own.reduce(
        (most, each) => each.returnedAt + slack < invokedAt ? Math.max(most, currentOf(each) ?? 0) : most,
        0,
      );
      const mayEnd = own.some(({ call, invokedAt }) =>
        (call.do === "revoke" || call.do === "touch") && invokedAt <= returnedAt + slack
      );
      const listed = result.versions[handle];
      if (listed === undefined && known > 0 && !mayEnd) report("list", `${label} does not show ${handle}`);
      if (listed !== undefined && listed < known) report("list", `${label} shows ${handle} at ${listed}, not ${known}`);
    }
  }
}

/** A stream tells just the journals, in an order that could be that of the writes. */
function checkWatch(
  watch: Watch,
  { slack, mayHaveGaps = false, rewoundAt }: History,
  calls: ReadonlyMap<string, readonly Operation[]>,
  timelines: ReadonlyMap<string, Timeline>,
  report: Report,
): void {
  const told = new Map<string, number>();
  const ended = new Set<string>();
  let latest = -Infinity;
  let latestBy = "";
  for (const { type, handle = "", version = 0, writer = "", at, reason, seenAt } of watch.events) {
    const name = `${watch.name}: ${type} of ${handle} ${type === "change" ? `version ${version} by ${writer}` : ""}`;
    if (type === "gap") {
      if (!mayHaveGaps) report("watch", `${name} (${reason}), and nothing was lost`);
      told.clear();
      ended.clear(); // an end may be among what was lost
      continue;
    }
    if (ended.has(handle)) report("watch", `${name} came after its end`);
    if (type !== "change") {
      ended.add(handle);
      continue;
    }
    const before = told.get(handle);
    const isFirst = before === undefined && (mayHaveGaps || version === 1 || isOlder(calls, timelines, handle, watch));
    if (!isFirst && version !== (before ?? 0) + 1) report("watch", `${name} came after version ${before ?? 0}`);
    told.set(handle, version);
    const timeline = timelines.get(handle);
    const entry = timeline?.entry(version);
    if (timeline !== undefined && (entry?.writer !== writer || entry.at !== at)) {
      report("watch", `${name} is not what the journal has`);
    }
    const operations = calls.get(writer) ?? [];
    const invokedAt = Math.min(...operations.map((each) => each.invokedAt));
    const answered = operations.filter(({ result }) => result.is === "version");
    const returnedAt = Math.min(...answered.map((each) => each.returnedAt));
    if (invokedAt > seenAt + slack) report("watch", `${name} was told before it was asked for`);
    if (returnedAt + slack < latest) report("watch", `${name} was told after ${latestBy}, which was asked for later`);
    if (invokedAt > latest) [latest, latestBy] = [invokedAt, writer];
  }
  if (!watch.isComplete) return;
  if (rewoundAt !== undefined && !watch.events.some(({ type }) => type === "gap")) {
    const told = new Set(watch.events.map(({ writer }) => writer));
    for (const [handle, { journal }] of timelines) {
      for (const { writer, version } of journal.entries) {
        const [first] = calls.get(writer) ?? [];
        if (first === undefined || first.invokedAt < rewoundAt || told.has(writer)) continue;
        report("watch", `${watch.name} was told neither of ${handle} version ${version} by ${writer} nor of a gap`);
      }
    }
  }
  for (const [handle, { journal }] of timelines) {
    const mint = calls.get(journal.entries[0]?.writer)?.[0];
    const last = told.get(handle);
    if (last === undefined && !(mint !== undefined && mint.invokedAt > watch.since)) continue;
    if (last !== journal.entries.length && !(mayHaveGaps && last === undefined)) {
      report("watch", `${watch.name} told ${handle} up to ${last ?? 0} of ${journal.entries.length}`);
    }
  }
}

function isOlder(
  calls: ReadonlyMap<string, readonly Operation[]>,
  timelines: ReadonlyMap<string, Timeline>,
  handle: string,
  { since }: Watch,
): boolean {
  const mint = calls.get(timelines.get(handle)?.entry(1)?.writer ?? "")?.[0];
  return mint === undefined || mint.invokedAt <= since;
}
