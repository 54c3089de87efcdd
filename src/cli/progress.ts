/**
 * How far a long command is, on one line of a terminal. Elsewhere nothing is shown.
 *
 * @module
 */

/** How often the line is drawn anew, at most. */
const EVERY_MS = 100;
const WIDTH = 24;

/** A line that is drawn over and over. */
export interface Progress {
  /** Shows a text; with a part from 0 to 1, a bar before it. */
  show(text: string, part?: number): void;
  /** Takes the line away. */
  end(): void;
}

/** Begins a line on standard error, if that is a terminal. */
export function startProgress(): Progress {
  if (!Deno.stderr.isTerminal()) return { show() {}, end() {} };
  const encoder = new TextEncoder();
  let last = 0;
  return {
    show(text, part) {
      const now = performance.now();
      if (now - last < EVERY_MS) return;
      last = now;
      Deno.stderr.writeSync(encoder.encode(`\r\x1b[K${part === undefined ? "" : bar(part)}${text}`));
    },
    end() {
      Deno.stderr.writeSync(encoder.encode("\r\x1b[K"));
    },
  };
}

function bar(part: number): string {
  const done = Math.round(Math.min(part, 1) * WIDTH);
  return `[${"█".repeat(done)}${" ".repeat(WIDTH - done)}] ${Math.floor(Math.min(part, 1) * 100)} %  `;
}
