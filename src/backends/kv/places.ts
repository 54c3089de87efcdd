/**
 * Where the records of one user are, by the user as it stands in keys: its name may not be known.
 *
 * @module
 */

import type { Connection } from "./connection.ts";
import type { KvKey, KvKeyPart } from "./database.ts";
import { type Buried, type Live, readUser } from "./values.ts";

/** Keys of one user. */
export interface Places {
  readonly user: KvKey;
  readonly documents: KvKey;
  readonly list: KvKey;
  readonly dues: KvKey;
  readonly requests: KvKey;
  readonly requested: KvKey;
  document(id: string): KvKey;
  /** Where a document is in the list. */
  listedAt(document: Live | Buried): KvKey;
  /** Where it is among what ends, if it ends. */
  dueAt(document: Live | Buried, idPart: KvKeyPart): KvKey | undefined;
}

/** The keys of a user. */
export function placesOf({ keys }: Connection, part: KvKeyPart): Places {
  const [documents, list, dues] = [keys.documents(), keys.lists(), keys.allDues()].map((prefix) => [...prefix, part]);
  return {
    user: [...keys.users(), part],
    documents,
    list,
    dues,
    requests: [...keys.allRequests(), part],
    requested: [...keys.allRequestTimes(), part],
    document: (id) => [...documents, keys.userPart(id)],
    listedAt: (document) => [...list, "head" in document ? document.head.seq : document.tombstone.seq],
    dueAt: (document, idPart) => {
      const at = "head" in document ? document.head.expiresAt : document.dueAt;
      return at === undefined ? undefined : [...dues, at, idPart];
    },
  };
}

/** A user's name, from its record or from the keys. */
export function userOf(part: KvKeyPart, record: unknown): string | undefined {
  return readUser(record)?.name ?? (typeof part === "string" ? part : undefined);
}
