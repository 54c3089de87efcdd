/**
 * Standard input and output as a transport that knows which requests it has not answered yet, so that a server can
 * finish what it began when its input ends.
 *
 * @module
 */

import process from "node:process";
import {
  INVALID_REQUEST,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  ReadBuffer,
  type RequestId,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";

const NEWLINE = 10;

/** The transport of one connection, which is the process's own. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Settles when the client has closed its end, or can no longer be written to. */
  readonly ended: Promise<void>;
  readonly #end: () => void;
  readonly #buffer = new ReadBuffer();
  readonly #unanswered = new Set<RequestId>();
  #onAnswered: (() => void) | undefined;
  #isClosed = false;
  #isSkipping = false;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#end = resolve;
  }

  start(): Promise<void> {
    process.stdin.on("data", this.#read);
    process.stdin.on("end", this.#end);
    process.stdin.on("close", this.#end);
    process.stdin.on("error", this.#end);
    process.stdout.on("error", this.#fail);
    return Promise.resolve();
  }

  /** Takes no more requests. Those that were taken are still answered. */
  stopReading(): void {
    process.stdin.off("data", this.#read);
    process.stdin.pause();
  }

  /** Waits until every request is answered and its answer handed to the system, or until the time is over. */
  async answered(timeoutMs: number): Promise<void> {
    if (this.#unanswered.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onAnswered = resolve;
    const timer = setTimeout(resolve, timeoutMs);
    await promise;
    clearTimeout(timer);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error("the connection is closed");
    await new Promise<void>((resolve, reject) => {
      process.stdout.write(serializeMessage(message), (error) => error ? reject(error) : resolve());
    });
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#settle(message.id);
  }

  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#isClosed = true;
    this.stopReading();
    process.stdin.off("end", this.#end);
    process.stdin.off("close", this.#end);
    process.stdin.off("error", this.#end);
    this.#buffer.clear();
    this.#unanswered.clear();
    this.#end();
    this.onclose?.();
    return Promise.resolve();
  }

  readonly #read = (chunk: Uint8Array): void => {
    const rest = this.#isSkipping ? this.#skip(chunk) : chunk;
    if (rest === undefined) return;
    try {
      this.#buffer.append(rest as Parameters<ReadBuffer["append"]>[0]);
    } catch (error) {
      // One message is larger than any may be: it is passed over, up to its end.
      this.#refuse(INVALID_REQUEST, "The message is too large.", error);
      this.#buffer.clear();
      this.#isSkipping = true;
      this.#read(rest);
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.#receive(message);
      } catch (error) {
        // One line that is no message; the next one may be. What is no JSON at all does not get here.
        this.#refuse(INVALID_REQUEST, "The line is no JSON-RPC message.", error);
      }
    }
  };

  /** What follows the end of a line; `undefined` while that is not there. */
  #skip(chunk: Uint8Array): Uint8Array | undefined {
    const end = chunk.indexOf(NEWLINE);
    if (end === -1) return undefined;
    this.#isSkipping = false;
    return chunk.subarray(end + 1);
  }

  /** Answers what cannot be told whose request it is (JSON-RPC 2.0, section 5: the id is null then). */
  #refuse(code: number, message: string, error: unknown): void {
    this.onerror?.(toError(error));
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } })}\n`);
  }

  #receive(message: JSONRPCMessage): void {
    // A subscription is answered only when it ends, so it is not waited for.
    if (isJSONRPCRequest(message) && message.method !== "subscriptions/listen") this.#unanswered.add(message.id);
    else if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      this.#settle(message.params?.requestId as RequestId | undefined);
    }
    this.onmessage?.(message);
  }

  #settle(id: RequestId | undefined): void {
    if (id !== undefined) this.#unanswered.delete(id);
    if (this.#unanswered.size === 0) this.#onAnswered?.();
  }

  readonly #fail = (error: unknown): void => {
    this.onerror?.(toError(error));
    this.#unanswered.clear();
    this.#onAnswered?.();
    this.#end();
  };
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
