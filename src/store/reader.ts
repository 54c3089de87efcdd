/**
 * Reads a version: asks the backend for the head, folds what is missing, and keeps "here it is", "that never was" and
 * "no longer retained" apart.
 *
 * @module
 */

import type { Absent, Backend, DocumentKey, Found, Gone, Head, Held, Want } from "../backends/backend.ts";
import {
  HandleExpired,
  HandleNotFound,
  InvalidInput,
  NoTurnHistory,
  TurnNotFound,
  TurnPruned,
  VersionNotFound,
  VersionPruned,
} from "../document/errors.ts";
import { EMPTY, type Entry, fold, type Stamp } from "../document/journal.ts";
import { decodeKeyframe } from "../document/keyframe.ts";
import type { Current, FoldCache, Version } from "./cache.ts";
import type { Counts } from "./counts.ts";
import { damaged } from "./damage.ts";
import { isNearMiss } from "./handle.ts";
import { toIso } from "./snapshots.ts";

/** How often a reader that meets a hole asks again before it believes it. */
export const ATTEMPTS = 4;
/** How many handles are looked at for what was probably meant. */
const SUGGESTIONS_FROM = 1_000;

/** Reads documents of one backend through one cache. */
export class Reader {
  constructor(readonly backend: Backend, readonly cache: FoldCache, readonly counts: Counts) {}

  /** The current version. @throws {HandleNotFound | HandleExpired | BackendError} */
  async current(key: DocumentKey): Promise<Current> {
    return await this.version(key, { as: "head" });
  }

  /** A version as of something. The `head` is as it is now. @throws the three outcomes, apart. */
  async version(key: DocumentKey, want: Want): Promise<Current> {
    return await this.find(key, want) ?? await this.notFound(key);
  }

  /** The same; `undefined` where nothing is known of the document, for those who have no use for a suggestion. */
  async find(key: DocumentKey, want: Want): Promise<Current | undefined> {
    let held: Version | Current | undefined = this.#held(key, want);
    for (let attempt = 1;; attempt++) {
      const answer = await this.backend.read(key, want, held && toHeld(held));
      if (answer.outcome !== "found") {
        this.cache.delete(key);
        const expired = toExpired(key, answer);
        if (expired === undefined) return undefined;
        throw expired;
      }
      if (want.as === "turn") checkTurn(answer.head, want.turn);
      const { head, target } = answer;
      const found = target === "held" ? held?.folded.version : target?.version;
      if (found === undefined && !(attempt < ATTEMPTS && this.#mayBeHole(head, want))) {
        throw await this.#missing(key, head, want);
      }
      if (found !== undefined && found < head.oldest) throw await this.#pruned(key, head, want, found);
      const version = this.follow(answer, held);
      if (version !== undefined) {
        if (target === "held" || answer.onto === "held") this.counts.cacheHits++;
        else this.counts.cacheMisses++;
        const current = { ...version, head };
        if (version.folded.version === head.version) this.cache.setCurrent(key, current);
        else this.cache.setVersion(key, version);
        return current;
      }
      if (attempt >= ATTEMPTS) throw damaged();
      held = FROM_START; // around a damaged keyframe, and past a pruning that went on meanwhile
    }
  }

  /** What a backend's answer leads to; `undefined` if it has a hole or nothing was found. */
  follow(found: Found, held: Version | undefined): Version | undefined {
    const { target, onto, entries } = found;
    if (target === undefined) return undefined;
    if (target === "held") return held;
    try {
      const base = onto === "held" ? held?.folded : onto === "nothing" ? EMPTY : decodeKeyframe(onto, entries[0]);
      if (base === undefined) return undefined;
      const folded = fold(base, entries.filter(({ version }) => version > base.version));
      return folded.version === target.version && folded.writeId === target.writeId
        ? { folded, stamp: toStamp(target) }
        : undefined;
    } catch (error) {
      // A pointer that cannot be parsed is damage here, and nobody's input.
      if (error instanceof TypeError || error instanceof SyntaxError || error instanceof InvalidInput) return undefined;
      throw error;
    }
  }

  /** The error for a document that is not there. */
  async gone(key: DocumentKey, answer: Gone | Absent, notApplied = false): Promise<HandleNotFound | HandleExpired> {
    return toExpired(key, answer, notApplied) ??
      new HandleNotFound(key.id, await this.#suggestion(key.user, key.id), notApplied);
  }

  /** @throws {HandleNotFound} in any case, with what was probably meant. */
  async notFound(key: DocumentKey): Promise<never> {
    throw await this.gone(key, { outcome: "absent" });
  }

  /** What may serve as a base; the backend decides whether it does. */
  #held(key: DocumentKey, want: Want): Version | Current | undefined {
    return want.as === "version" ? this.cache.version(key, want.version) : this.cache.current(key);
  }

  #mayBeHole(head: Head, want: Want): boolean {
    return want.as === "head" || want.as === "version" && want.version >= head.oldest && want.version <= head.version;
  }

  async #missing(key: DocumentKey, head: Head, want: Want): Promise<Error> {
    switch (want.as) {
      case "head":
        return damaged();
      case "version":
        return want.version > head.version || want.version < 1
          ? new VersionNotFound(want.version, head.version)
          : want.version < head.oldest
          ? await this.#pruned(key, head, want)
          : damaged();
      case "turn":
        return await this.#pruned(key, head, want);
      case "time":
        return want.at < head.createdAt
          ? new VersionNotFound(
            undefined,
            head.version,
            `The document did not exist at ${toIso(want.at)}: version 1 was written at ${toIso(head.createdAt)}.`,
          )
          : await this.#pruned(key, head, want);
    }
  }

  async #pruned(key: DocumentKey, head: Head, want: Want, found?: number): Promise<Error> {
    this.counts.prunedReads++;
    const retained = { from: head.oldest, to: head.version };
    if (want.as !== "turn") return new VersionPruned(want.as === "version" ? want.version : found, retained);
    const oldest = await this.backend.locate(key, { version: head.oldest });
    return new TurnPruned(want.turn, { from: Math.max(oldest?.turn ?? head.turn, head.firstTurn), to: head.turn });
  }

  async #suggestion(user: string, id: string): Promise<string | undefined> {
    const page = await this.backend.list(user, {
      direction: "down",
      from: Number.MAX_SAFE_INTEGER,
      limit: SUGGESTIONS_FROM,
      tombstones: false,
    });
    return page.documents.find((head) => isNearMiss(head.id, id))?.id;
  }
}

/** The error for a document that has expired; `undefined` for one that was deleted or never was. */
function toExpired({ id }: DocumentKey, answer: Gone | Absent, notApplied = false): HandleExpired | undefined {
  if (answer.outcome === "absent" || answer.tombstone.status !== "expired") return undefined;
  const { goneAt, ttlDays = 0 } = answer.tombstone;
  return new HandleExpired(id, toIso(goneAt), ttlDays, notApplied);
}

/** The only place that tells a turn that never was from one that may have been pruned. */
function checkTurn(head: Head, turn: number): void {
  if (head.turn === 0) throw new NoTurnHistory();
  if (turn < head.firstTurn || turn > head.turn) throw new TurnNotFound(turn, head.firstTurn, head.turn);
}

function toHeld(held: Version | Current): Held {
  const { version, writeId } = held.folded;
  return "head" in held && held.head.version === version ? { version, writeId, head: held.head } : { version, writeId };
}

/** Asks for the journal from its start. */
const FROM_START: Version = {
  folded: EMPTY,
  stamp: { version: 0, writeId: "", at: 0, turn: 0, writer: "", seq: 0, offset: 0 },
};

function toStamp(stamp: Stamp | Entry): Stamp {
  const { version, writeId, at, turn, writer, seq, offset } = stamp;
  return { version, writeId, at, turn, writer, seq, offset };
}
