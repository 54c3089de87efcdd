/**
 * Makes a document.
 *
 * @module
 */

import type { Creation, DocumentKey } from "../backends/backend.ts";
import { admitState } from "../document/admit.ts";
import { QuotaExceeded, StateTooLarge } from "../document/errors.ts";
import { advance, EMPTY, entryBytes } from "../document/journal.ts";
import type { Snapshot } from "../document/snapshot.ts";
import {
  checkKind,
  checkRequestId,
  checkTitle,
  checkTtl,
  checkTurnJump,
  checkUser,
  checkWriter,
  checkWriteTurn,
} from "../document/checks.ts";
import { mintHandle, mintWriteId } from "./handle.ts";
import { checkSchema, type StandardSchema } from "./kind.ts";
import type { MintOptions, Settings } from "./options.ts";
import type { Reader } from "./reader.ts";
import { checkSame, replay, type Request, toDraft, toRequest } from "./requests.ts";
import { toSnapshot } from "./snapshots.ts";

/** How often a handle that happens to be taken is drawn again. */
const DRAWS = 8;

/** How a new document is named, and whose it is. A name that is taken is followed by the next. */
export type Naming = () => Iterable<DocumentKey>;

/** Names with handles that are drawn at random, until one is free. */
export function drawn(kind: string, handleLength: number, userOf: (handle: string) => string): Naming {
  return function* () {
    for (let draw = 0; draw < DRAWS; draw++) {
      const id = mintHandle(kind, handleLength);
      yield { user: checkUser(userOf(id)), id };
    }
  };
}

/** A document that is to be made. */
export interface NewDocument {
  readonly kind: string;
  readonly state: unknown;
  readonly options: Omit<MintOptions, "user">;
  /** What every state of its kind must satisfy. */
  readonly schema?: StandardSchema;
  /** The request that makes it. Default: that of `mint` with the id in `options`. */
  readonly request?: Request;
}

/** Version 1 of a new document; `undefined` if every name is taken. */
export async function create(
  reader: Reader,
  settings: Settings,
  { kind, state, options, schema, request: known }: NewDocument,
  naming: Naming,
): Promise<Snapshot | undefined> {
  checkKind(kind);
  const { value, bytes } = admitState(state);
  if (bytes > settings.maxStateBytes) throw new StateTooLarge(bytes, settings.maxStateBytes);
  const ttlDays = options.ttlDays === undefined ? undefined : checkTtl(options.ttlDays);
  const title = checkTitle(options.title);
  const writer = options.writer === undefined ? settings.writer : checkWriter(options.writer);
  const turn = checkWriteTurn(options.turn);
  checkTurnJump(0, turn);
  const args = { kind, state: value, ttlDays: ttlDays ?? null, title: title ?? null };
  const request = known ?? toRequest(checkRequestId(options.requestId), "mint", args);
  if (schema !== undefined) await checkSchema(schema, kind, value);

  const writeId = mintWriteId();
  const body = JSON.stringify(value);
  const facts = { changed: Object.freeze([""]) };
  const meta = { kind, title, writer, bytes, ...facts };
  const creation: Creation = {
    kind,
    bytes,
    quota: settings.maxHandlesPerUser,
    entry: { writeId, writer, body, offset: entryBytes(body), turn, title, ttlDays },
    request: toDraft(request, meta),
  };
  for (const key of naming()) {
    const answer = await reader.backend.create(key, creation);
    switch (answer.outcome) {
      case "exists": {
        const version = reader.follow(answer.found, undefined);
        if (version !== undefined) reader.cache.setCurrent(key, { ...version, head: answer.found.head });
        continue;
      }
      case "gone": // made by this very write, which came twice, and ended since
        throw await reader.gone(key, answer);
      case "quota":
        throw new QuotaExceeded(answer.held, settings.maxHandlesPerUser);
      case "replayed":
        if (request !== undefined) checkSame(answer.record, request);
        return await replay(reader, key.user, answer.record);
      case "appended": {
        const { head, stamps: [stamp] } = answer;
        const after = { state: value, bytes };
        const folded = advance(EMPTY, {
          patch: [{ op: "replace", path: "", value }],
          after,
          writeId,
          writer,
          turn: stamp.turn,
        });
        reader.cache.setCurrent(key, { head, folded, stamp });
        return toSnapshot(head, folded, stamp, facts);
      }
    }
  }
  return undefined;
}
