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
  /** In the order of use: the first is the least recently used. */
  readonly #entries = new Map<string, { readonly value: Version; readonly cost: number }>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Roughly how many bytes are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The newest version that was seen of a document. */
  current(key: DocumentKey): Current | undefined {
    const value = this.#use(name(key));
    return value !== undefined && "head" in value ? value as Current : undefined;
  }

  /** An older version. */
  version(key: DocumentKey, version: number): Version | undefined {
    const current = this.current(key);
    return current?.folded.version === version ? current : this.#use(name(key, version));
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
    this.#remove(name(key));
  }

  /** Forgets everything. */
  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  #use(entryName: string): Version | undefined {
    const entry = this.#entries.get(entryName);
    if (entry === undefined) return undefined;
    this.#entries.delete(entryName);
    this.#entries.set(entryName, entry);
    return entry.value;
  }

  #set(entryName: string, value: Version): void {
    this.#remove(entryName);
    const cost = OVERHEAD + PARSED * value.folded.bytes;
    if (cost > this.#maxBytes) return;
    this.#entries.set(entryName, { value, cost });
    this.#bytes += cost;
    for (const [oldest] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#remove(oldest);
    }
  }

  #remove(entryName: string): void {
    const entry = this.#entries.get(entryName);
    if (entry === undefined) return;
    this.#bytes -= entry.cost;
    this.#entries.delete(entryName);
  }
}

// Neither part can hold a NUL, so two documents never share a name.
function name({ user, id }: DocumentKey, version?: number): string {
  return version === undefined ? `${user}\0${id}` : `${user}\0${id}\0${version}`;
}
