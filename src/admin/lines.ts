/**
 * Lines of bytes, as of a file or standard input.
 *
 * @module
 */

/** What stands for a line that is not UTF-8: no JSON, so whoever reads it refuses it. */
const NOT_TEXT = "(not UTF-8)";

/** The lines of a stream, without their ends (LF or CRLF) and without a byte order mark. Cancels the stream if it is left early. */
export async function* toLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
      yield toText([...parts, chunk.subarray(from, end)]);
      parts = [];
      from = end + 1;
    }
    if (from < chunk.length) parts.push(chunk.slice(from));
  }
  if (parts.length > 0) yield toText(parts);
}

const LF = 0x0a;

function toText(parts: readonly Uint8Array[]): string {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r$/, "");
  } catch {
    return NOT_TEXT;
  }
}
