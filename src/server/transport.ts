/**
 * Standard input and output as a transport that knows which requests it has not answered yet, so that a server can
 * finish what it began when its input ends.
 *
 * @module
 */

import process from "node:process";
import {
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
    try {
      this.#buffer.append(chunk as Parameters<ReadBuffer["append"]>[0]);
    } catch (error) {
      this.#fail(error); // one message is larger than any may be; what follows it cannot be told apart
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.#receive(message);
      } catch (error) {
        this.onerror?.(toError(error)); // one line that is no message; the next one may be
      }
    }
  };

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
