/**
 * What a model must read to get on with a large document that others change: a few lines, whatever its size.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { emptyHome } from "./client.ts";
import { ServerProcess } from "./process.ts";

/** Calls tools, and counts the characters of what came back. */
class Reader {
  characters = 0;
  #id = 0;

  constructor(readonly server: ServerProcess) {}

  async call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
    const id = ++this.#id;
    const { result } = await this.server.request(id, "tools/call", { name, arguments: args });
    const [{ text }] = result?.content as [{ text: string }];
    this.characters += text.length;
    return JSON.parse(text);
  }
}

/** Text of so many bytes. */
function text(start: string, bytes: number): string {
  return start.padEnd(bytes, ".");
}

/** 200 KiB of notes: fields of 40 bytes, items of 80. */
function notes() {
  const fields = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`field${i}`, text(`value ${i} `, 40)]));
  const items = Array.from({ length: 2260 }, (_, i) => text(`item ${i} `, 80));
  return { fields, items };
}

Deno.test("state_save, state_patch: a conflict on 200 KiB is resolved with under 2,000 characters of answers", async () => {
  await using home = emptyHome();
  await using laptop = new ServerProcess({ home: home.path, args: ["--writer", "laptop"] });
  await using phone = new ServerProcess({ home: home.path, args: ["--writer", "phone"] });
  await Promise.all([laptop.initialize(), phone.initialize()]);
  const base = notes();
  assert(JSON.stringify(base).length >= 200 * 1024);
  const [mine, theirs] = [new Reader(laptop), new Reader(phone)];
  const { handle } = await mine.call("state_save", { kind: "notes", state: base });
  await theirs.call("state_patch", {
    handle,
    ops: [
      { op: "set_key", path: "fields", key: "field7", value: text("theirs ", 40) },
      { op: "append", path: "items", value: text("theirs ", 80) },
    ],
  });

  mine.characters = 0;
  const field = text("mine ", 40);
  const item = text("mine ", 80);
  const edited = { fields: { ...base.fields, field7: field }, items: [...base.items, item] };
  const refused = await mine.call("state_save", {
    handle,
    state: edited,
    expect_version: 1,
    on_conflict: "merge",
  });
  const error = refused.error as { code: string; conflicts: { path: string; theirs: string }[] };
  assertEquals([error.code, error.conflicts.map(({ path }) => path)], ["stale_write", ["/fields/field7"]]);
  const settled = await mine.call("state_patch", {
    handle,
    ops: [
      { op: "set_key", path: "fields", key: "field7", value: field },
      { op: "append", path: "items", value: item },
    ],
  });
  assertEquals(settled.version, 3);
  console.log(`a conflict on ${JSON.stringify(base).length} bytes: ${mine.characters} characters of answers`);
  assert(mine.characters < 2_000, `${mine.characters} characters`);
  const { state } = await theirs.call("state_load", { handle, path: "/items/2260" });
  assertEquals(state, text("theirs ", 80));
});

Deno.test("state_changes: after 50 changes of 200 KiB a client resumes with under 8,000 characters", async () => {
  await using home = emptyHome();
  await using laptop = new ServerProcess({ home: home.path, args: ["--writer", "laptop"] });
  await laptop.initialize();
  const reader = new Reader(laptop);
  const { handle } = await reader.call("state_save", { kind: "notes", state: notes() });
  for (let i = 0; i < 50; i++) {
    await reader.call("state_patch", {
      handle,
      ops: [
        { op: "set_key", path: "fields", key: `field${i}`, value: text(`new ${i} `, 40) },
        { op: "append", path: "items", value: text(`new ${i} `, 80) },
      ],
    });
  }
  reader.characters = 0;
  const versions: number[] = [];
  for (let since = 1;;) {
    const page = await reader.call("state_changes", { handle, since_version: since, limit: 100 });
    const entries = page.entries as { version: number }[];
    versions.push(...entries.map(({ version }) => version));
    if (page.more !== true) break;
    since = versions[versions.length - 1];
  }
  console.log(`50 changes: ${reader.characters} characters of answers`);
  assertEquals(versions, Array.from({ length: 50 }, (_, i) => i + 2));
  assert(reader.characters < 8_000, `${reader.characters} characters`);
});
