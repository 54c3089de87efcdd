/**
 * Standard input and output as a transport that knows which requests it has not answered yet, so that a server can
 * finish what it began when its input ends.
 *
 * @module
 */

import process from "node:process";
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PARSE_ERROR,
  parseJSONRPCMessage,
  type RequestId,
  serializeMessage,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
  type Transport,
} from "@modelcontextprotocol/server";
import { isObject } from "../document/json.ts";
import { LineBuffer } from "./line_buffer.ts";

/** The transport of one connection, which is the process's own. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Settles when the client has closed its end, or can no longer be written to. */
  readonly ended: Promise<void>;
  readonly #end: () => void;
  readonly #buffer = new LineBuffer(STDIO_DEFAULT_MAX_BUFFER_SIZE, {
    line: (text) => this.#take(text),
    tooLong: () => this.#refuse(null, INVALID_REQUEST, "The message is too large."),
  });
  readonly #unanswered = new Set<RequestId>();
  #onAnswered: (() => void) | undefined;
  #isClosed = false;

  /** `beforeListening` is done before a subscription is served, so that nothing that follows is missed. */
  constructor(readonly beforeListening: (request: JSONRPCRequest) => Promise<void>) {
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

  readonly #read = (chunk: Uint8Array): void => this.#buffer.take(chunk);

  #take(line: string): void {
    if (line.trim() === "") return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      return this.#refuse(null, PARSE_ERROR, "The line is not JSON.", error);
    }
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch (error) {
      // What may be an answer is never answered: that would be an answer to a request of nobody's.
      if (isAnswer(value)) this.onerror?.(toError(error));
      else this.#refuse(idOf(value), INVALID_REQUEST, "The line is no JSON-RPC message.", error);
      return;
    }
    this.#receive(message);
  }

  /** Answers what is no request, with its id if that can be read (JSON-RPC 2.0, section 5). */
  #refuse(id: RequestId | null, code: number, message: string, error: unknown = new Error(message)): void {
    this.onerror?.(toError(error));
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })}\n`);
  }

  #receive(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message)) {
      // A subscription is answered only when it ends, so it is not waited for.
      if (message.method === "subscriptions/listen") {
        this.beforeListening(message).then(
          () => this.onmessage?.(message),
          (error) => this.#refuse(message.id, INTERNAL_ERROR, "What happens cannot be watched just now.", error),
        );
        return;
      }
      this.#unanswered.add(message.id);
    } else if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
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

function idOf(value: unknown): RequestId | null {
  if (!isObject(value)) return null;
  const { id } = value;
  return typeof id === "string" || typeof id === "number" && Number.isSafeInteger(id) ? id : null;
}

function isAnswer(value: unknown): boolean {
  return isObject(value) && !("method" in value) && ("result" in value || "error" in value);
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
