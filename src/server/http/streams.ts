/**
 * A stream of what happens to one user's documents, as `subscriptions/listen` asks for it.
 *
 * @module
 */

import { InMemoryServerEventBus, type ServerEventBus } from "@modelcontextprotocol/server";
import { InvalidInput } from "../../document/errors.ts";
import { isObject } from "../../document/json.ts";
import type { WatchEvent } from "../../store/watch.ts";
import { type EventStore, ownedOf, toServerEvents } from "../subscriptions.ts";
import { afterwards, isStream } from "./afterwards.ts";
import { Refusal, REFUSED } from "./refusal.ts";

/** Beyond so many that were not taken yet, a stream reads no more of what happened until its client has caught up. */
const MAX_BACKLOG = 64;

/** What a stream is for. */
export interface StreamRequest {
  /** Where it is read what happens; without it nothing is told. */
  readonly events: EventStore | undefined;
  /** Whose documents. */
  readonly user: string;
  /** The request as it came. */
  readonly json: unknown;
  /** Ends the stream. */
  readonly signal: AbortSignal;
}

/** What is done with a stream. */
export interface StreamEnds {
  /** Has the SDK answer the request, and tell what comes over the bus. */
  serve(json: unknown, bus: ServerEventBus): Promise<Response>;
  /** Called once, when the stream is over. */
  finish(): void;
}

/** Opens a stream. It is watched from before the first word is said, so that nothing is missed. @throws {Refusal} */
export async function openStream(request: StreamRequest, { serve, finish }: StreamEnds): Promise<Response> {
  const { events, user, signal } = request;
  const bus = new InMemoryServerEventBus();
  const asked = resourcesOf(request.json);
  if (events === undefined || asked === undefined) return afterwards(await serve(request.json, bus), finish);
  const watch = events.watch(user, { signal });
  await watch.ready;
  const owned = await ownedOf(events, user, asked.uris).catch((error) => {
    if (!(error instanceof InvalidInput)) throw error;
    throw new Refusal(400, error.message, { code: REFUSED.request });
  });
  const backlog = new Backlog(signal);
  const response = await serve(asked.without(owned), bus);
  // A stream that will never tell anything more is over, so that its client asks again.
  if (isStream(response)) tell(watch, new Set(owned), bus, backlog).then(finish, finish);
  return afterwards(response, finish, () => backlog.taken());
}

async function tell(
  watch: AsyncIterable<WatchEvent>,
  uris: ReadonlySet<string>,
  bus: ServerEventBus,
  backlog: Backlog,
): Promise<void> {
  for await (const event of watch) {
    for (const each of toServerEvents(event, uris)) {
      if (each.kind === "resource_updated" && !uris.has(each.uri)) continue;
      backlog.added();
      bus.publish(each);
    }
    await backlog.room();
  }
}

/** What was told and has not gone out. */
class Backlog {
  #count = 0;
  #wake: () => void = () => {};

  constructor(signal: AbortSignal) {
    signal.addEventListener("abort", () => {
      this.#count = 0;
      this.#wake();
    });
  }

  added(): void {
    this.#count++;
  }

  taken(): void {
    // What goes out may also be an acknowledgement or a sign of life.
    this.#count = Math.max(0, this.#count - 1);
    this.#wake();
  }

  async room(): Promise<void> {
    while (this.#count > MAX_BACKLOG) await new Promise<void>((resolve) => this.#wake = resolve);
  }
}

/** The resources that a request names, and the request without those that are none. `undefined` for one of another form. */
function resourcesOf(
  json: unknown,
): { readonly uris: readonly string[]; without(owned: readonly string[]): unknown } | undefined {
  if (!isObject(json) || !isObject(json.params) || !isObject(json.params.notifications)) return undefined;
  const { params, params: { notifications } } = json;
  const { resourceSubscriptions = [] } = notifications;
  if (!Array.isArray(resourceSubscriptions)) return undefined;
  const uris = resourceSubscriptions.filter((uri): uri is string => typeof uri === "string");
  if (uris.length < resourceSubscriptions.length) return undefined;
  return {
    uris,
    without: (owned) => ({
      ...json,
      params: { ...params, notifications: { ...notifications, resourceSubscriptions: owned } },
    }),
  };
}
