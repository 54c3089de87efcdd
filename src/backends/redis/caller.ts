/**
 * Runs scripts until they are answered or time is over.
 *
 * A write whose reply was lost is sent again: the server recognises it, so its outcome is known after all.
 *
 * @module
 */

import { closed, isHopeless, isPassing, replyCode, toBackendError, Unanswered } from "./errors.ts";
import type { Link } from "./link.ts";
import type { Script } from "./script.ts";

/** An attempt with less time than this, in milliseconds, may go unanswered, and turn a refusal into an outcome that nobody knows. */
const LEAST_MS = 50;

/** Whoever calls Redis. */
export class Caller {
  readonly #digests = new Map<Script, string>();
  /** Ends the pauses before another attempt. */
  readonly #pauses = new Set<() => void>();
  #closed = false;

  /** @param deadlineMs how long a call may take, whatever happens. */
  constructor(readonly link: Link, readonly deadlineMs: number) {}

  /** Runs a script. @throws {BackendError} */
  run(script: Script, keys: readonly string[], args: readonly string[], link: Link = this.link): Promise<unknown> {
    const send = (digest: string) => {
      const command = ["EVALSHA", digest, String(keys.length)];
      for (const each of keys) command.push(each);
      for (const each of args) command.push(each);
      return this.#untilAnswered(script.writes, link, keys[0], command, script);
    };
    const digest = this.#digests.get(script);
    return digest === undefined ? this.#digest(script).then(send) : send(digest);
  }

  /** Runs a command that changes nothing. @throws {BackendError} */
  ask(args: readonly string[], key?: string, link: Link = this.link): Promise<unknown> {
    return this.#untilAnswered(false, link, key, args);
  }

  /** Every server that holds keys of its own. @throws {BackendError} */
  async nodes(): Promise<readonly Link[]> {
    try {
      return await this.link.nodes(this.deadlineMs);
    } catch (error) {
      throw toBackendError(error, false);
    }
  }

  /** Begins nothing any more, and tries nothing again. */
  stop(): void {
    this.#closed = true;
    for (const end of this.#pauses) end();
  }

  close(): void {
    this.stop();
    this.link.close();
  }

  async #untilAnswered(
    writes: boolean,
    link: Link,
    key: string | undefined,
    command: readonly string[],
    script?: Script,
  ): Promise<unknown> {
    // Not the time of day: a clock that is set must not end a call.
    let begun = performance.now();
    const deadline = begun + this.deadlineMs;
    let mayHaveLanded = false;
    let wasSilent = false;
    let args = command;
    for (let pauseMs = 10;; pauseMs = Math.min(pauseMs * 2, 250)) {
      if (this.#closed) throw closed();
      const timeoutMs: number = wasSilent ? deadline - begun : link.attemptMs(deadline - begun);
      try {
        return await link.send(args, key, timeoutMs);
      } catch (error) {
        if (replyCode(error) === "NOSCRIPT" && script !== undefined && args === command) {
          args = ["EVAL", script.source, ...command.slice(2)];
          begun = performance.now();
          continue;
        }
        wasSilent ||= performance.now() - begun >= timeoutMs - 1;
        if (isHopeless(error)) throw toBackendError(error, mayHaveLanded);
        if (error instanceof Unanswered) mayHaveLanded ||= writes && error.sent;
        else if (!isPassing(error)) throw toBackendError(error, mayHaveLanded);
        else if (replyCode(error) === "READONLY") link.renew(); // a primary that has become a replica
        const waitMs = pauseMs * (0.5 + Math.random());
        if (this.#closed) throw mayHaveLanded ? toBackendError(error, true) : closed();
        if (performance.now() + waitMs + LEAST_MS >= deadline) throw toBackendError(error, mayHaveLanded);
        await this.#pause(waitMs);
        if (this.#closed && mayHaveLanded) throw toBackendError(error, true);
        begun = performance.now();
      }
    }
  }

  #pause(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#pauses.delete(end);
        resolve();
      };
      const timer = setTimeout(end, waitMs);
      this.#pauses.add(end);
    });
  }

  async #digest(script: Script): Promise<string> {
    const digest = await sha1(script.source);
    this.#digests.set(script, digest);
    return digest;
  }
}

async function sha1(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
