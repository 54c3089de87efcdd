import { DatabaseSync } from "node:sqlite";
import { assertEquals } from "@std/assert";
import { append } from "../../src/document/ops.ts";
import { Site } from "../store/raw.ts";

const alice = { user: "alice" };

const TABLE = `CREATE TABLE handles (
    user TEXT, handle TEXT, kind TEXT, state TEXT, version INTEGER, created_at REAL, updated_at REAL,
    expires_at REAL, last_writer TEXT, PRIMARY KEY(user,handle)
)`;

Deno.test("open: beside the table of the Python package leaves it as it is, to the byte", async () => {
  await using site = new Site();
  const python = new DatabaseSync(site.path);
  python.exec(TABLE);
  const insert = python.prepare("INSERT INTO handles VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (let i = 0; i < 50; i++) {
    const state = JSON.stringify({ sources: [`https://example.com/${i}`], note: "København 東京 🦊" });
    const expiry = i % 2 ? 1_785_000_000.25 + i : null;
    insert.run("alice", `research_${i}`, "research", state, i + 1, 1_780_000_000.125, 1_780_000_001.5, expiry, "phone");
  }
  const rows = () => python.prepare("SELECT rowid, * FROM handles ORDER BY rowid").all().map((row) => ({ ...row }));
  const schema = () =>
    python.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE tbl_name = 'handles' ORDER BY name").all()
      .map((row) => ({ ...row }));
  const before = [rows(), schema()];
  {
    await using store = await site.store();
    assertEquals((await store.list("alice")).handles, []);
    const handle = await store.mint("research", { sources: [] }, alice);
    for (let i = 0; i < 40; i++) await store.patch(handle, [append("sources", i)], alice);
    insert.run("alice", "research_live", "research", "{}", 1, 1.5, 1.5, null, "python");
    assertEquals((await store.get(handle, alice)).version, 41);
    await store.sweepAll();
    await store.purge("alice");
    await store.mint("research", {}, alice);
  }
  python.exec("DELETE FROM handles WHERE handle = 'research_live'");
  assertEquals([rows(), schema()], before);
  python.close();
  await using again = await site.store();
  assertEquals((await again.list("alice")).handles.length, 1);
});
