/**
 * Where everything lies in Redis. All keys of one user share a hash tag, so one script can reach them on a cluster.
 *
 * | key, after `prefix:{user}:` | holds |
 * |---|---|
 * | `user` | HASH: `seq`, `forgotten`, `live` (documents without a tombstone); also the name of the channel |
 * | `documents` | ZSET: every document and tombstone, by its `seq` |
 * | `expiry` | ZSET: documents with a time to live, by when it ends |
 * | `marks` | HASH: of documents with a time to live and of tombstones, what a tombstone tells, and by what a write that comes again is known |
 * | `graves` | ZSET: tombstones, by when they may be forgotten |
 * | `requests` | ZSET: request ids, by when they may be forgotten |
 * | `request:ID` | HASH: what is remembered of a request |
 * | `head:ID` | HASH: the head; what changes with a write is one text, `now`, see `packed.ts` |
 * | `journal:ID` | STREAM: the entry of version 5 is `5-0`: its `stamp`, one text too, and its `body` |
 * | `frames:ID` | ZSET: `VERSION BYTES WRITE_ID` of each keyframe, by version |
 * | `states:ID` | HASH: the body of each keyframe, by version |
 * | `turns:ID` | ZSET: the last version of each turn, by turn |
 * | `staged`, `staged:…` | for minutes, a large document on its way in: who brings it, and its journal, frames, states and turns |
 *
 * Head, journal, frames, states and turns expire by themselves; what a tombstone needs lies outside of them.
 *
 * @module
 */

import type { DocumentKey } from "../backend.ts";

/** The keys below one prefix. */
export class Keys {
  /** @param prefix has no braces: the hash tag is the user's. */
  constructor(readonly prefix: string) {}

  /** The user that was asked for last, and how all of its keys begin. */
  #last: { readonly user?: string; readonly base: string } = { base: "" };

  /** `user`, `documents`, `expiry`, `marks`, `graves`: what every script begins with. */
  user(user: string): string[] {
    const base = this.#base(user);
    return [`${base}user`, `${base}documents`, `${base}expiry`, `${base}marks`, `${base}graves`];
  }

  /** `head`, `journal`, `frames`, `states`, `turns`: all that ends with the document. */
  document({ user, id }: DocumentKey): string[] {
    const base = this.#base(user);
    return [
      `${base}head:${id}`,
      `${base}journal:${id}`,
      `${base}frames:${id}`,
      `${base}states:${id}`,
      `${base}turns:${id}`,
    ];
  }

  /** All of the two. */
  all(key: DocumentKey): string[] {
    const keys = this.user(key.user);
    for (const each of this.document(key)) keys.push(each);
    return keys;
  }

  /** `user` and `documents`: what an entry changes of a user. */
  index(user: string): string[] {
    const base = this.#base(user);
    return [`${base}user`, `${base}documents`];
  }

  /** Adds `head` and `journal`, and `turns` if it has a turn: what an entry changes of a document. */
  pushWritten(keys: string[], { user, id }: DocumentKey, turn: number): void {
    const base = this.#base(user);
    keys.push(`${base}head:${id}`, `${base}journal:${id}`);
    if (turn > 0) keys.push(`${base}turns:${id}`);
  }

  head({ user, id }: DocumentKey): string {
    return `${this.#base(user)}head:${id}`;
  }

  requests(user: string): string {
    return `${this.#base(user)}requests`;
  }

  request(user: string, requestId: string): string {
    return `${this.#base(user)}request:${requestId}`;
  }

  /** Who brings a document in, and the keys that become its journal, frames, states and turns. */
  staged(user: string): string[] {
    const base = this.#base(user);
    return [`${base}staged`, ...["journal", "frames", "states", "turns"].map((name) => `${base}staged:${name}`)];
  }

  /** Where a user's writes are told: the name of its first key. */
  channel(user: string): string {
    return `${this.#base(user)}user`;
  }

  /** The pattern of all keys, or of those that end so, for SCAN: also of some that are none of ours, see {@link Keys.parse}. */
  pattern(name = "*"): string {
    return `${this.prefix}:{*}:${name}`;
  }

  /** Whose a key is, and what it is called after that; `undefined` for one that is none of ours. */
  parse(key: string): { readonly user: string; readonly name: string } | undefined {
    const start = `${this.prefix}:{`;
    const end = key.indexOf("}:", start.length);
    if (!key.startsWith(start) || end === -1) return undefined;
    try {
      const user = decodeURIComponent(key.slice(start.length, end));
      return this.#base(user) === key.slice(0, end + 2) ? { user, name: key.slice(end + 2) } : undefined;
    } catch {
      return undefined;
    }
  }

  /** Percent-encoded, so a name with braces cannot end the hash tag, and no two names meet. */
  #base(user: string): string {
    if (this.#last.user !== user) this.#last = { user, base: `${this.prefix}:{${encodeURIComponent(user)}}:` };
    return this.#last.base;
  }
}
