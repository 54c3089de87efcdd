/**
 * Where everything is. All keys of one store begin with its prefix; what can be long is hashed, as keys have a limit.
 *
 * | key after the prefix | record |
 * |---|---|
 * | `format` | the number of this layout |
 * | `user`, user | name, sequence number, count of live documents, forgotten |
 * | `document`, user, id | a head and the name of its journal, or a tombstone |
 * | `list`, user, seq | the same once more, in the order of lists |
 * | `due`, user, time, id | when a document expires, or a tombstone is forgotten |
 * | `request`, user, request id | what is remembered of a request |
 * | `requested`, user, time, request id | when that was |
 * | `journal`, journal, `entry`, version | an entry |
 * | `journal`, journal, `keyframe`, version | a keyframe |
 * | `journal`, journal, `turn`, turn | the last version of the turn |
 * | `chunk`, stage, number | a part of a large text |
 * | `staged`, user, stage | the intent to use chunks, or a journal, that are already written |
 * | `leftover`, user, name | what is invisible already and still to be deleted |
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { DocumentKey } from "../records.ts";
import type { KvKey, KvKeyPart } from "./database.ts";

/** Up to this many bytes a name stands in a key as it is. */
const LONGEST_NAME = 64;
const encoder = new TextEncoder();

/** A name as a part of a key: a text, or bytes where it is hashed; so the two never meet. */
function part(name: string): KvKeyPart {
  if (name.length <= LONGEST_NAME && encoder.encode(name).length <= LONGEST_NAME) return name;
  return new Uint8Array(createHash("sha256").update(name).digest());
}

/** The keys of one store. */
export class Keys {
  constructor(readonly prefix: string) {}

  /** What the first part of a key after the prefix may be. */
  readonly names: readonly string[] = [
    "chunk",
    "document",
    "due",
    "format",
    "journal",
    "leftover",
    "list",
    "request",
    "requested",
    "staged",
    "user",
  ];

  format(): KvKey {
    return [this.prefix, "format"];
  }

  users(): KvKey {
    return [this.prefix, "user"];
  }

  user(user: string): KvKey {
    return [this.prefix, "user", part(user)];
  }

  /** Documents of a user, or of all. */
  documents(user?: string): KvKey {
    return user === undefined ? [this.prefix, "document"] : [this.prefix, "document", part(user)];
  }

  document({ user, id }: DocumentKey): KvKey {
    return [this.prefix, "document", part(user), part(id)];
  }

  lists(): KvKey {
    return [this.prefix, "list"];
  }

  list(user: string): KvKey {
    return [this.prefix, "list", part(user)];
  }

  listed(user: string, seq: number): KvKey {
    return [this.prefix, "list", part(user), seq];
  }

  allDues(): KvKey {
    return [this.prefix, "due"];
  }

  dues(user: string): KvKey {
    return [this.prefix, "due", part(user)];
  }

  due({ user, id }: DocumentKey, at: number): KvKey {
    return [this.prefix, "due", part(user), at, part(id)];
  }

  allRequests(): KvKey {
    return [this.prefix, "request"];
  }

  requests(user: string): KvKey {
    return [this.prefix, "request", part(user)];
  }

  request(user: string, id: string): KvKey {
    return [this.prefix, "request", part(user), part(id)];
  }

  allRequestTimes(): KvKey {
    return [this.prefix, "requested"];
  }

  requestTimes(user: string): KvKey {
    return [this.prefix, "requested", part(user)];
  }

  requested(user: string, id: string, at: number): KvKey {
    return [this.prefix, "requested", part(user), at, part(id)];
  }

  journals(): KvKey {
    return [this.prefix, "journal"];
  }

  journal(journal: string): KvKey {
    return [this.prefix, "journal", journal];
  }

  entries(journal: string): KvKey {
    return [this.prefix, "journal", journal, "entry"];
  }

  keyframes(journal: string): KvKey {
    return [this.prefix, "journal", journal, "keyframe"];
  }

  turns(journal: string): KvKey {
    return [this.prefix, "journal", journal, "turn"];
  }

  chunks(): KvKey {
    return [this.prefix, "chunk"];
  }

  chunk(stage: string, number: number): KvKey {
    return [this.prefix, "chunk", stage, number];
  }

  /** Intents of a user, or of all. */
  intents(user?: string): KvKey {
    return user === undefined ? [this.prefix, "staged"] : [this.prefix, "staged", part(user)];
  }

  intent(user: string, stage: string): KvKey {
    return [this.prefix, "staged", part(user), stage];
  }

  /** Leftovers of a user, or of all. */
  leftovers(user?: string): KvKey {
    return user === undefined ? [this.prefix, "leftover"] : [this.prefix, "leftover", part(user)];
  }

  /** What is left of an intent becomes a leftover under the same name. */
  leftover(userPart: KvKeyPart, name: string): KvKey {
    return [this.prefix, "leftover", userPart, name];
  }

  /** A user, or the id of a document, as it stands in keys. */
  userPart(name: string): KvKeyPart {
    return part(name);
  }
}
