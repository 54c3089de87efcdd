/**
 * What becomes of a server's refusals and of silence. No message names a host, a path or a credential; the `cause` may.
 *
 * @module
 */

import { BackendError } from "../../document/errors.ts";

/** No reply came: the connection failed, or time was over. */
export class Unanswered extends Error {
  constructor(
    message: string,
    /** Whether the command may have reached the server. */
    readonly sent: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const DAMAGED =
  "A record in Redis is damaged or was evicted. Run doctor to see which, and set maxmemory-policy to noeviction.";

const UNKNOWN = "Whether the write has landed is not known";

/** What each code with which Redis refuses means to a caller. Whatever is refused has changed nothing. */
const MESSAGES: Readonly<Record<string, string>> = {
  OOM: "Redis is full (maxmemory). Nothing was changed: delete what is no longer needed, or give it more memory.",
  READONLY: "This Redis is a read-only replica. Nothing was changed: name its primary.",
  LOADING: "Redis is still loading its data. Nothing was changed: try again in a moment.",
  MISCONF: "Redis refuses writes because it cannot save to disk. Nothing was changed: see its log.",
  NOREPLICAS: "Redis refuses writes because too few replicas follow it. Nothing was changed.",
  NOAUTH: "Redis asks for a password, and none was given.",
  WRONGPASS: "Redis refused the user name or the password.",
  NOPERM:
    "The Redis user may not do what the store needs: commands of @read, @write, @scripting and @pubsub on the keys and channels below the prefix.",
  CLUSTERDOWN: "The Redis Cluster is down: part of its slots has no primary. Nothing was changed.",
  MASTERDOWN: "This Redis is a replica that has lost its primary. Nothing was changed.",
  BUSY: "Redis is busy with a script of somebody else. Nothing was changed: try again.",
  TRYAGAIN: "Redis Cluster is moving these keys. Nothing was changed: try again.",
  MOVED: "The keys are on another node: this is a Redis Cluster. Add ?cluster=true to the URL.",
  ASK: "The keys are moving to another node: this is a Redis Cluster. Add ?cluster=true to the URL.",
  CROSSSLOT: "Redis Cluster found the keys of one user in several slots.",
  WRONGTYPE: "A key below the prefix holds something of another program. Nothing was changed: choose another prefix.",
  NOSCRIPT: "Redis does not keep scripts.",
  EXECABORT: "Redis refused the command.",
  ERR: "Redis refused a command of the store.",
};

/** Refusals that may be over in a moment. */
const PASSING = new Set(["LOADING", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS", "READONLY"]);

/** The code of an error reply; `undefined` for any other error, whatever client it comes from. */
export function replyCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // Servers before version 7 put the code of a command inside a script behind its position.
  const code = /@user_script: ?\d+: -?([A-Z]+) /.exec(error.message)?.[1] ?? /^-?([A-Z]+) /.exec(error.message)?.[1];
  return code !== undefined && Object.hasOwn(MESSAGES, code) ? code : undefined;
}

/** Whether trying again in a moment may work. Nothing has happened on the server. */
export function isPassing(error: unknown): boolean {
  const code = replyCode(error);
  return code !== undefined && PASSING.has(code);
}

const UNPERMITTED = /Requires net access|NotCapable/;
const UNTRUSTED = /certificate/i;

/** Whether no other attempt could fare better: the way there is closed, and not by an outage. */
export function isHopeless(error: unknown): boolean {
  const reasons = reasonsOf(error);
  return UNPERMITTED.test(reasons) || UNTRUSTED.test(reasons);
}

/** Wraps what a client threw once. */
export function toBackendError(error: unknown, outcomeUnknown: boolean): BackendError {
  if (error instanceof BackendError) return error;
  const code = replyCode(error);
  const options = { cause: error, outcomeUnknown };
  if (code !== undefined) {
    const message = (code === "ERR" && REASONS.find(([pattern]) => pattern.test(String(error)))?.[1]) || MESSAGES[code];
    // The refusal is of this attempt; one before it may have gone through.
    const told = outcomeUnknown ? message.replace(/Nothing was changed/, UNKNOWN) : message;
    return new BackendError(told, { ...options, busy: code === "BUSY" });
  }
  const reasons = reasonsOf(error);
  if (UNPERMITTED.test(reasons)) {
    return new BackendError("Deno was not given permission to reach Redis (--allow-net=host:port).", options);
  }
  if (UNTRUSTED.test(reasons)) {
    return new BackendError("The certificate of Redis is not trusted: name its CA with ?ca= or caCert.", options);
  }
  return outcomeUnknown
    ? new BackendError(`Redis did not answer in time. ${UNKNOWN}: load to see.`, options)
    : new BackendError("Redis could not be reached in time. Nothing was changed.", options);
}

/** What it means where the code alone does not tell. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/without any password|invalid password/i, MESSAGES.WRONGPASS],
  [/DB index/i, "This Redis has no database of that number."],
  [/cluster support disabled/, "This Redis is no cluster: leave ?cluster=true out of the URL."],
  [/equal or smaller/, DAMAGED],
];

/** What an error and those behind it say. */
function reasonsOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonsOf).join("\n");
  return error instanceof Error ? `${error.name} ${error.message}\n${reasonsOf(error.cause)}` : "";
}

/** What is there cannot be read; it is never guessed at. */
export function damaged(): BackendError {
  return new BackendError(DAMAGED);
}

/** The answer to every call after the end. */
export function closed(): BackendError {
  return new BackendError("The store is closed.");
}
