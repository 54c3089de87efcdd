/**
 * What the official suite is expected to find missing, each with its reason. What passes all the same must be struck out:
 * the suite fails on it.
 *
 * @module
 */

// Both could be had by fixtures, which would judge the SDK and nothing of ours.
const ASKS_NOTHING =
  "No tool asks the client for anything: no elicitation, no sampling, no roots. It is not advertised.";
const NO_LOGGING = "Nothing is logged to clients, and it is not advertised: logs go to the operator.";
const NO_STREAM = "An older client over HTTP has no stream on which it could be told, so this is not advertised to it.";

/** Scenarios, or single checks of one as `scenario:check`, by the revision that requires them. */
export const EXPECTED: Readonly<Record<"2026-07-28" | "2025-11-25", Readonly<Record<string, string>>>> = {
  "2026-07-28": {
    "server-stateless:sep-2575-server-rejects-undeclared-capability": ASKS_NOTHING,
    "server-stateless:sep-2575-missing-capability-http-400": ASKS_NOTHING,
    "server-stateless:sep-2575-http-server-no-independent-requests-on-stream": ASKS_NOTHING,
    "server-stateless:sep-2575-server-no-log-without-loglevel": NO_LOGGING,
    "input-required-result-basic-elicitation": ASKS_NOTHING,
    "input-required-result-basic-sampling": ASKS_NOTHING,
    "input-required-result-basic-list-roots": ASKS_NOTHING,
    "input-required-result-request-state": ASKS_NOTHING,
    "input-required-result-multiple-input-requests": ASKS_NOTHING,
    "input-required-result-multi-round": ASKS_NOTHING,
    "input-required-result-missing-input-response": ASKS_NOTHING,
    "input-required-result-ignore-extra-params": ASKS_NOTHING,
    "input-required-result-non-tool-request": ASKS_NOTHING,
    "input-required-result-result-type": ASKS_NOTHING,
    "input-required-result-tampered-state": ASKS_NOTHING,
    "input-required-result-capability-check": ASKS_NOTHING,
  },
  "2025-11-25": {
    "logging-set-level": NO_LOGGING,
    "tools-call-with-logging": NO_LOGGING,
    "tools-call-sampling": ASKS_NOTHING,
    "tools-call-elicitation": ASKS_NOTHING,
    "elicitation-sep1034-defaults": ASKS_NOTHING,
    "elicitation-sep1330-enums": ASKS_NOTHING,
    "server-sse-multiple-streams": "The scenario needs a session, and there are none: a warning, no failed check.",
    "resources-subscribe": NO_STREAM,
    "resources-unsubscribe": NO_STREAM,
  },
};

/** What is judged of our own resources and prompt, without the fixtures. */
export const OWN = [
  "tools-list",
  "resources-list",
  "sep-2164-resource-not-found",
  "prompts-list",
  "caching",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
  "http-header-validation",
] as const;
