/**
 * Tells a client what happens to its user's documents, across processes: nobody else's, and no more than it can take.
 *
 * @module
 */

import {
  type JSONRPCRequest,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ServerEvent,
} from "@modelcontextprotocol/server";
import { InvalidInput } from "../document/errors.ts";
import { isObject } from "../document/json.ts";
import type { HandleStore } from "../store/store.ts";
import type { WatchEvent } from "../store/watch.ts";
import { handleOf, toUri } from "./resources.ts";

/** How many resources one stream or connection may name. */
export const MAX_SUBSCRIPTIONS = 256;

/** What is read of a store here. */
export type EventStore = Pick<HandleStore, "watch" | "has">;

/** What happened, in the protocol's words. After a gap everything that was asked for may have changed. */
export function toServerEvents(event: WatchEvent, uris: Iterable<string>): ServerEvent[] {
  const updated = (uri: string): ServerEvent => ({ kind: "resource_updated", uri });
  switch (event.type) {
    case "change":
      return [event.version === 1 ? LISTED : updated(toUri(event.handle))];
    case "deleted":
    case "expired":
      return [updated(toUri(event.handle)), LISTED];
    case "gap":
      return event.handle === undefined ? [...[...uris].map(updated), LISTED] : [updated(toUri(event.handle)), LISTED];
  }
}

const LISTED: ServerEvent = { kind: "resources_list_changed" };

/** Of these resources, the documents of the user that are there: of others there will never be anything to tell. */
export async function ownedOf(store: EventStore, user: string, uris: readonly string[]): Promise<string[]> {
  if (uris.length > MAX_SUBSCRIPTIONS) {
    throw new InvalidInput("resourceSubscriptions", `Name at most ${MAX_SUBSCRIPTIONS} resources.`);
  }
  const owned = await Promise.all(uris.map((uri) => isOwned(store, user, uri)));
  return uris.filter((_, i) => owned[i]);
}

async function isOwned(store: EventStore, user: string, uri: string): Promise<boolean> {
  const handle = handleOf(uri);
  if (handle === undefined) return false;
  try {
    return await store.has(handle, { user });
  } catch (error) {
    if (error instanceof InvalidInput) return false;
    throw error;
  }
}

/** What one connection on standard input and output is told. Nothing is watched before somebody asks. */
export class ConnectionEvents implements Disposable {
  readonly #closing = new AbortController();
  readonly #subscribed = new Set<string>();
  #ready: Promise<void> | undefined;
  #server: McpServer | undefined;
  #push: "listen" | "subscribe" = "listen";

  constructor(readonly store: EventStore, readonly user: string, readonly onerror: (error: unknown) => void) {}

  /** The server that speaks for the connection from here on, and how its client asks for events. */
  speakTo(server: McpServer, push: "listen" | "subscribe"): void {
    this.#server = server;
    this.#push = push;
    if (push === "subscribe") this.#answerSubscriptions(server);
  }

  /** Gets ready for a `subscriptions/listen`, which the SDK answers itself. */
  async listen({ params }: Pick<JSONRPCRequest, "params">): Promise<void> {
    const filter = params?.notifications;
    const uris = isObject(filter) && Array.isArray(filter.resourceSubscriptions) ? filter.resourceSubscriptions : [];
    for (const uri of uris) {
      if (typeof uri === "string" && this.#subscribed.size < MAX_SUBSCRIPTIONS) this.#subscribed.add(uri);
    }
    await this.#begin();
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  /** An older client subscribes to one resource at a time. */
  #answerSubscriptions({ server }: McpServer): void {
    server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
      if (this.#subscribed.size >= MAX_SUBSCRIPTIONS) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `At most ${MAX_SUBSCRIPTIONS} subscriptions.`);
      }
      // Watched first: what is written while it is looked for must not be missed.
      await this.#begin();
      if (!await isOwned(this.store, this.user, uri)) throw new ResourceNotFoundError(uri);
      this.#subscribed.add(uri);
      return {};
    });
    server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
      this.#subscribed.delete(uri);
      return {};
    });
  }

  /** Begins to watch. Settles once nothing more can be missed. */
  #begin(): Promise<void> {
    if (this.#ready === undefined) {
      const watch = this.store.watch(this.user, { signal: this.#closing.signal });
      this.#ready = watch.ready;
      this.#tell(watch).catch((error) => {
        this.#ready = undefined; // the next one who asks begins again
        this.onerror(error);
      });
    }
    return this.#ready;
  }

  async #tell(events: AsyncIterable<WatchEvent>): Promise<void> {
    for await (const event of events) {
      for (const each of toServerEvents(event, this.#subscribed)) await this.#send(each);
    }
  }

  /** To a client that listens, the SDK sends what it listens for. An older one is told what it subscribed to. */
  async #send(event: ServerEvent): Promise<void> {
    const { server } = this.#server ?? {};
    if (event.kind === "resource_updated") {
      if (this.#push === "listen" || this.#subscribed.has(event.uri)) {
        await server?.sendResourceUpdated({ uri: event.uri });
      }
    } else if (this.#push === "listen") await server?.sendResourceListChanged();
  }
}
