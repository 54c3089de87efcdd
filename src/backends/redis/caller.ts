/**
 * Runs scripts until they are answered or time is over.
 *
 * A write whose reply was lost is sent again: the server recognises it, so its outcome is known after all.
 *
 * @module
 */

import { closed, isPassing, replyCode, toBackendError, Unanswered } from "./errors.ts";
import type { Link } from "./link.ts";
import type { Script } from "./script.ts";

/** Whoever calls Redis. */
export class Caller {
  readonly #digests = new Map<Script, Promise<string>>();
  #closed = false;

  /** @param deadlineMs how long a call may take, whatever happens. */
  constructor(readonly link: Link, readonly deadlineMs: number) {}

  /** Runs a script. @throws {BackendError} */
  run(script: Script, keys: readonly string[], args: readonly string[], link: Link = this.link): Promise<unknown> {
    return this.#untilAnswered(script.writes, link, async (timeoutMs) => {
      const rest = [String(keys.length), ...keys, ...args];
      const digest = await this.#digest(script);
      const begun = performance.now();
      try {
        return await link.send(["EVALSHA", digest, ...rest], keys[0], timeoutMs);
      } catch (error) {
        if (replyCode(error) !== "NOSCRIPT") throw error;
        return await link.send(["EVAL", script.source, ...rest], keys[0], timeoutMs - (performance.now() - begun));
      }
    });
  }

  /** Runs a command that changes nothing. @throws {BackendError} */
  ask(args: readonly string[], key?: string, link: Link = this.link): Promise<unknown> {
    return this.#untilAnswered(false, link, (timeoutMs) => link.send(args, key, timeoutMs));
  }

  /** Every server that holds keys of its own. @throws {BackendError} */
  async nodes(): Promise<readonly Link[]> {
    try {
      return await this.link.nodes(this.deadlineMs);
    } catch (error) {
      throw toBackendError(error, false);
    }
  }

  close(): void {
    this.#closed = true;
    this.link.close();
  }

  async #untilAnswered(
    writes: boolean,
    link: Link,
    attempt: (timeoutMs: number) => Promise<unknown>,
  ): Promise<unknown> {
    // Not the time of day: a clock that is set must not end a call.
    const deadline = performance.now() + this.deadlineMs;
    let mayHaveLanded = false;
    let wasSilent = false;
    for (let pauseMs = 10;; pauseMs = Math.min(pauseMs * 2, 250)) {
      if (this.#closed) throw closed();
      const begun = performance.now();
      const timeoutMs: number = wasSilent ? deadline - begun : link.attemptMs(deadline - begun);
      try {
        return await attempt(timeoutMs);
      } catch (error) {
        wasSilent ||= performance.now() - begun >= timeoutMs - 1;
        if (error instanceof Unanswered) mayHaveLanded ||= writes && error.sent;
        else if (!isPassing(error)) throw toBackendError(error, mayHaveLanded);
        else if (replyCode(error) === "READONLY") link.renew(); // a primary that has become a replica
        const waitMs = pauseMs * (0.5 + Math.random());
        if (this.#closed) throw mayHaveLanded ? toBackendError(error, true) : closed();
        if (performance.now() + waitMs >= deadline) throw toBackendError(error, mayHaveLanded);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  #digest(script: Script): Promise<string> {
    let digest = this.#digests.get(script);
    if (digest === undefined) this.#digests.set(script, digest = sha1(script.source));
    return digest;
  }
}

async function sha1(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
