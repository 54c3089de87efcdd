import { assert, assertEquals } from "@std/assert";
import type { Backend } from "../../src/backends/backend.ts";
import { append } from "../../src/document/ops.ts";
import { HandleStore } from "../../src/store/store.ts";
import { type Case, forward } from "./target.ts";

const alice = { user: "alice" };

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** A backend that counts the bytes of the bodies that go in, and of those that the last read came back with. */
function counting(backend: Backend) {
  const counts = { written: 0, read: 0 };
  const append: Backend["append"] = (key, expected, draft) => {
    for (const { entry } of draft.steps) counts.written += bytesOf(entry?.body ?? "");
    if (draft.keyframe !== undefined) counts.written += bytesOf(draft.keyframe.body);
    return backend.append(key, expected, draft);
  };
  const trim: Backend["trim"] = (key, oldest, keyframe) => {
    counts.written += bytesOf(keyframe.body);
    return backend.trim(key, oldest, keyframe);
  };
  const read: Backend["read"] = async (key, want, held) => {
    const answer = await backend.read(key, want, held);
    if (answer.outcome === "found") {
      counts.read = typeof answer.onto === "string" ? 0 : bytesOf(answer.onto.body);
      for (const { body } of answer.entries) counts.read += bytesOf(body);
    }
    return answer;
  };
  return { counts, backend: { ...forward(backend), append, trim, read } };
}

export function boundsCases(contract: Case): void {
  contract(
    "bounds: 5,000 appends write at most four times the state, and any version is cheap to read",
    async (engine) => {
      const { counts, backend } = counting(engine);
      const store = new HandleStore(backend, { retention: { versions: Infinity } });
      const handle = await store.mint("research", { sources: [] }, alice);
      // What waits goes together: many writers, as they are on a server.
      for (let i = 0; i < 5_000; i += 50) {
        await Promise.all(
          Array.from(
            { length: 50 },
            (_, j) => store.patch(handle, [append("sources", `${i + j}`.padStart(200, "s"))], alice),
          ),
        );
      }
      const { bytes, version } = await store.get(handle, alice);
      assertEquals([version, bytes > 1_000_000], [5_001, true]);
      assert(counts.written <= 4 * bytes, `${counts.written} for ${bytes}`);
      const cold = new HandleStore(backend, { cacheBytes: 0 });
      for (let version = 1; version <= 5_001; version += 250) {
        const { bytes } = await cold.get(handle, { ...alice, version });
        assert(
          counts.read <= 2.5 * bytes + 64 * 1024,
          `version ${version} of ${bytes} bytes was read from ${counts.read}`,
        );
      }
    },
  );
}
