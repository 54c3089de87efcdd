/**
 * Deletes a document.
 *
 * @module
 */

import type { DocumentKey } from "../backends/backend.ts";
import { checkInteger, checkRequestId } from "../document/checks.ts";
import { mintWriteId } from "./handle.ts";
import type { RevokeOptions } from "./options.ts";
import { ahead, refuse } from "./plans.ts";
import type { Reader } from "./reader.ts";
import { checkSame, toDraft, toRequest } from "./requests.ts";

/** What was deleted. */
export interface Revoked {
  /** Its name. */
  readonly handle: string;
  /** Its last version. */
  readonly version: number;
  /** Whether this answers a request id that was seen before. */
  readonly replayed?: true;
}

/** @throws {StaleWrite} if `expectVersion` is given and no longer current. */
export async function revoke(reader: Reader, key: DocumentKey, options: RevokeOptions): Promise<Revoked> {
  const handle = key.id;
  const expected = options.expectVersion === undefined
    ? undefined
    : checkInteger("expect_version", options.expectVersion, 1);
  const request = toRequest(checkRequestId(options.requestId), "revoke", { handle, expected: expected ?? null });
  const meta = { kind: "", writer: "", bytes: 0 };
  const removal = { writeId: mintWriteId(), expected, request: toDraft(request, meta) };
  const answer = await reader.backend.remove(key, removal);
  switch (answer.outcome) {
    case "removed":
      reader.cache.delete(key);
      return { handle, version: answer.version };
    case "replayed":
      if (request !== undefined) checkSame(answer.record, request);
      reader.counts.replays++;
      return { handle, version: answer.record.version, replayed: true };
    case "absent":
    case "gone":
      reader.cache.delete(key);
      throw await reader.gone(key, answer, true);
    case "lost": {
      const { head } = answer.found;
      if (expected !== undefined && expected > head.version) {
        throw ahead(expected, head.version);
      }
      reader.counts.conflicts++;
      return await refuse(reader, key, await reader.current(key), expected ?? head.version, { tried: "delete" });
    }
  }
}
