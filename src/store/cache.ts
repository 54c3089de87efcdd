/**
 * Folded states that the process keeps, least recently used out first, bounded by bytes.
 *
 * An entry is named by document, version **and write id**: after a failover or a restored backup a version number may
 * come back with other content. Nothing here is believed without the backend's word that it is still so.
 *
 * @module
 */

import type { DocumentKey, Head } from "../backends/backend.ts";
import type { Folded, Stamp } from "../document/journal.ts";
import { Lru } from "../document/lru.ts";

/** A version of a document, folded, with its stamp. */
export interface Version {
  readonly folded: Folded;
  readonly stamp: Stamp;
}

/** The newest version that was seen, with the head as it was then. */
export interface Current extends Version {
  readonly head: Head;
}

/** What an entry is charged beyond its state: the objects around it. */
const OVERHEAD = 1024;
/** A parsed state takes about this many times its JSON. */
const PARSED = 2;

/** The cache of one store. */
export class FoldCache {
  readonly #versions: Lru<Version>;

  constructor(maxBytes: number) {
    this.#versions = new Lru(maxBytes);
  }

  /** The newest version that was seen of a document. */
  current(key: DocumentKey): Current | undefined {
    const value = this.#versions.get(name(key));
    return value !== undefined && "head" in value ? value as Current : undefined;
  }

  /** An older version. */
  version(key: DocumentKey, version: number): Version | undefined {
    const current = this.current(key);
    return current?.folded.version === version ? current : this.#versions.get(name(key, version));
  }

  /** Keeps the newest version, in the place of the one before. */
  setCurrent(key: DocumentKey, current: Current): void {
    this.#set(name(key), current);
  }

  /** Keeps an older version. */
  setVersion(key: DocumentKey, version: Version): void {
    this.#set(name(key, version.folded.version), version);
  }

  /** Forgets the newest version of a document that is gone. */
  delete(key: DocumentKey): void {
    this.#versions.delete(name(key));
  }

  /** Forgets everything. */
  clear(): void {
    this.#versions.clear();
  }

  #set(entryName: string, value: Version): void {
    this.#versions.set(entryName, value, OVERHEAD + PARSED * value.folded.bytes);
  }
}

// Neither part can hold a NUL, so two documents never share a name.
function name({ user, id }: DocumentKey, version?: number): string {
  return version === undefined ? `${user}\0${id}` : `${user}\0${id}\0${version}`;
}
