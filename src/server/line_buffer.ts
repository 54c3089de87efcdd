/**
 * Bytes of a pipe as lines, none of which is held beyond a limit.
 *
 * @module
 */

const LF = 10;

/** What is done with what comes. */
export interface LineReader {
  /** A line, without its end. */
  line(text: string): void;
  /** A line is longer than the limit; the rest of it is passed over. */
  tooLong(): void;
}

/** Cuts a pipe into lines (LF or CRLF). A byte order mark before the first one is no part of it (RFC 8259, section 8.1). */
export class LineBuffer {
  readonly #reader: LineReader;
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #isSkipping = false;
  #isFirst = true;

  /** With the most bytes that a line may have. */
  constructor(maxBytes: number, reader: LineReader) {
    this.#maxBytes = maxBytes;
    this.#reader = reader;
  }

  /** Takes what has come, and tells of each line that ends in it. */
  take(chunk: Uint8Array): void {
    let from = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
      this.#keep(chunk.subarray(from, end));
      this.#end();
      from = end + 1;
    }
    this.#keep(chunk.slice(from));
  }

  /** Forgets the line that has not ended. */
  clear(): void {
    this.#parts = [];
    this.#bytes = 0;
  }

  #keep(part: Uint8Array): void {
    if (this.#isSkipping || part.length === 0) return;
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes <= this.#maxBytes) return;
    this.clear();
    this.#isSkipping = true;
    this.#reader.tooLong();
  }

  #end(): void {
    const [isSkipped, isFirst] = [this.#isSkipping, this.#isFirst];
    this.#isSkipping = this.#isFirst = false;
    if (isSkipped) return;
    const decoder = new TextDecoder("utf-8", { ignoreBOM: !isFirst });
    const text = this.#parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
    this.clear();
    this.#reader.line(text.replace(/\r$/, ""));
  }
}
