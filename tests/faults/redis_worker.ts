/**
 * A process of its own that writes to Redis, with no permission but to reach it. Says each item that was acknowledged.
 *
 * Arguments: URL, handle, a name, how many.
 *
 * @module
 */

import { openRedisBackend } from "../../src/backends/redis.ts";
import { append } from "../../src/document/ops.ts";
import { HandleStore } from "../../src/store/store.ts";

const [url, handle, name, count] = Deno.args;
{
  const backend = await openRedisBackend({ url, onWarning: () => {} });
  await using store = new HandleStore(backend);
  await using _subscription = await backend.subscribe("alice", () => {}); // must not keep the process alive
  for (let i = 0; i < Number(count); i++) {
    const item = `${name}-${i}`;
    await store.patch(handle, [append("items", item)], { user: "alice", writer: name });
    console.log(item);
  }
}
