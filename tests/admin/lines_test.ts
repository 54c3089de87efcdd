import { assertEquals } from "@std/assert";
import { toLines } from "../../src/admin/lines.ts";

async function split(chunks: readonly (string | Uint8Array)[]): Promise<string[]> {
  const encoder = new TextEncoder();
  const stream = ReadableStream.from(chunks.map((each) => typeof each === "string" ? encoder.encode(each) : each));
  return await Array.fromAsync(toLines(stream));
}

Deno.test("toLines: finds the lines, however the bytes come", async () => {
  assertEquals(await split([]), []);
  assertEquals(await split(["a\nb\n"]), ["a", "b"]);
  assertEquals(await split(["a\nb"]), ["a", "b"]);
  assertEquals(await split(["a", "b", "\n", "", "c\r\n\n", "d"]), ["ab", "c", "", "d"]);
  assertEquals(await split(["\ufeff{}\n"]), ["{}"]);
  const æble = new TextEncoder().encode("æble 🍎\nnæste\n");
  for (let cut = 0; cut <= æble.length; cut++) {
    assertEquals(await split([æble.subarray(0, cut), æble.subarray(cut)]), ["æble 🍎", "næste"]);
  }
});

Deno.test("toLines: marks a line that is not UTF-8, and reads the others", async () => {
  assertEquals(await split(["a\n", new Uint8Array([0x22, 0xff, 0x22]), "\nb"]), ["a", "(not UTF-8)", "b"]);
});

Deno.test("toLines: cancels the stream if it is left early", async () => {
  let cancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode("a\n")),
    cancel: () => void (cancelled = true),
  });
  for await (const line of toLines(stream)) {
    assertEquals(line, "a");
    break;
  }
  assertEquals(cancelled, true);
});
