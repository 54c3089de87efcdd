/**
 * What one user can learn of, or do to, what is another's: nothing. The calls are made from what the server lists, so a
 * new tool or argument is tried as soon as it is there.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { createServer } from "../../src/server/server.ts";
import { type Connection, type ListedTool, succeed } from "./client.ts";
import { toUri } from "../../src/server/resources.ts";
import { until } from "../contract/drafts.ts";
import { BARE_CALLS, callTool, CLIENTS, connectHttpModern, type Reach, readCall } from "./http_client.ts";
import { openSite, type Site } from "./http_site.ts";
import { connectListener } from "./listening.ts";

/** What only alice knows. */
const SECRET = "the key is under the blue stone";

/** Values that carry something of alice's, where an argument could take it. */
interface Carried {
  readonly handle: string;
  readonly cursor: string;
  readonly requestId: string;
}

/** Every value that is worth trying for an argument. */
function valuesFor(name: string, schema: Record<string, unknown>, { handle, cursor, requestId }: Carried): unknown[] {
  switch (name) {
    case "handle":
      return [handle];
    case "cursor":
      return [cursor];
    case "request_id":
      return [requestId, "one of bob's own"];
    case "query":
      return [handle, "stone", "blue"];
    case "kind":
      return ["secret", "cart"];
    case "ops":
      return [[{ op: "set_key", path: "", key: "note", value: "bob was here" }]];
    case "at":
      return [new Date().toISOString()];
  }
  if (Array.isArray(schema.enum)) return schema.enum;
  switch (schema.type) {
    case "integer":
    case "number":
      return [1, 2];
    case "boolean":
      return [true];
    case "object":
      return [{ note: "bob was here" }];
    case "array":
      return [[]];
    default:
      return ["note", "*", ""];
  }
}

/** Calls of a tool: with what it must have, with each other argument beside it, and with all at once. */
function callsOf({ inputSchema }: ListedTool, carried: Carried): Record<string, unknown>[] {
  const properties = Object.entries(inputSchema.properties as Record<string, Record<string, unknown>>);
  const required = Array.isArray(inputSchema.required) ? inputSchema.required : [];
  // `expect_version` is needed wherever a handle is saved over, though the schema cannot say so.
  const base = Object.fromEntries(
    properties.filter(([name]) => required.includes(name) || name === "handle" || name === "expect_version")
      .map(([name, schema]) => [name, valuesFor(name, schema, carried)[0]]),
  );
  const singles = properties.flatMap(([name, schema]) =>
    valuesFor(name, schema, carried).map((value) => ({ ...base, [name]: value }))
  );
  const all = Object.fromEntries(properties.map(([name, schema]) => [name, valuesFor(name, schema, carried)[0]]));
  return [base, ...singles, all];
}

/** What is minted differs each time; what is about a handle names it. */
function comparable(text: string, handle: string): string {
  return text.replaceAll(handle, "HANDLE").replace(/"handle":"secret_[a-z2-7]{8}"/, '"handle":"MINTED"')
    .replace(/"handle":"cart_[a-z2-7]{8}"/, '"handle":"MINTED"')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME");
}

async function text(connection: Connection, tool: string, args: Record<string, unknown>): Promise<string> {
  return (await connection.raw(tool, args)).content[0]?.text ?? "";
}

/** What alice has in a server, and a handle like hers that never was. */
interface Planted {
  readonly alice: Connection;
  readonly carried: Carried;
  readonly never: string;
}

async function plant(site: Site): Promise<Planted> {
  const alice = await connectHttpModern(await site.caller("alice"));
  const requestId = "alice's own";
  const { handle } = await succeed(alice, "state_save", {
    kind: "secret",
    title: "where the blue stone is",
    state: { note: SECRET },
    request_id: requestId,
  });
  const ops = [{ op: "set_key", path: "", key: "seen", value: 1 }];
  await succeed(alice, "state_patch", { handle, ops, request_id: "alice's second" });
  await succeed(alice, "state_save", { kind: "secret", state: { note: SECRET } });
  const { next_cursor: cursor } = await succeed(alice, "state_list", { limit: 1 });
  const never = handle.slice(0, -4) + (handle.endsWith("aaaa") ? "bbbb" : "aaaa");
  return { alice, carried: { handle, cursor: cursor ?? "", requestId }, never };
}

/** The calls of a tool by which somebody else learns of alice's document, or does something to it. */
async function leaksOf(site: Site, tool: ListedTool, { carried, never }: Planted): Promise<readonly string[]> {
  const { handle } = carried;
  const made = callsOf(tool, carried);
  assert(made.length > 1);
  const leaks: string[] = [];
  for (const args of made) {
    // Each pair of calls comes from two users who have nothing, so that neither sees what the other made.
    await using bob = await connectHttpModern(await site.caller(`bob ${crypto.randomUUID()}`));
    await using carol = await connectHttpModern(await site.caller(`carol ${crypto.randomUUID()}`));
    const onHers = await text(bob, tool.name, args);
    const onNone = await text(carol, tool.name, JSON.parse(JSON.stringify(args).replaceAll(handle, never)));
    const isSame = comparable(onHers, handle) === comparable(onNone, never);
    const isRefused = args.handle !== handle || JSON.parse(onHers).ok === false;
    if (!isSame || !isRefused || onHers.includes(SECRET)) leaks.push(`${JSON.stringify(args)}: ${onHers}`);
  }
  return leaks;
}

Deno.test("isolation: whatever bob calls on alice's handle is answered as on one that never was", async (t) => {
  await using site = await openSite();
  const planted = await plant(site);
  await using alice = planted.alice;
  const before = await text(alice, "state_changes", { handle: planted.carried.handle });
  for (const tool of alice.tools) {
    await t.step(tool.name, async () => assertEquals(await leaksOf(site, tool, planted), []));
  }
  assertEquals(await text(alice, "state_changes", { handle: planted.carried.handle }), before);
  assertEquals((await succeed(alice, "state_list", {})).handles.length, 2);
});

Deno.test("isolation: a new tool that forgets who asks is found by the same calls", async () => {
  await using site = await openSite({
    createServer: ({ user }) => {
      const server = createServer(site.store, { user });
      const answer = (value: object) => ({ content: [{ type: "text" as const, text: JSON.stringify(value) }] });
      const inputSchema = z.object({ handle: z.string(), version: z.int().optional() });
      for (const [name, asked] of [["peek_any", "alice"], ["peek_own", user]]) {
        server.registerTool(name, { inputSchema }, async ({ handle }) => {
          try {
            return answer({ ok: true, version: (await site.store.get(handle, { user: asked })).version });
          } catch {
            return answer({ ok: false });
          }
        });
      }
      return server;
    },
  });
  const planted = await plant(site);
  await using alice = planted.alice;
  const leaks = await Promise.all(["peek_any", "peek_own"].map((name) => {
    const tool = alice.tools.find((tool) => tool.name === name);
    assert(tool !== undefined);
    return leaksOf(site, tool, planted);
  }));
  assertEquals(leaks.map(({ length }) => length > 0), [true, false]);
});

/** What somebody learns of a document without any tool: by every resource, prompt and route that names one. */
async function reading(reach: Reach, handle: string): Promise<readonly string[]> {
  await using connected = await connectHttpModern(reach);
  const { client } = connected;
  const told: string[] = [];
  const tell = async (what: string, ask: () => Promise<unknown>) => {
    told.push(
      `${what}: ${await ask().then((answer) => JSON.stringify(answer), (error) => `refused, ${error.message}`)}`,
    );
  };
  await tell("resources", () => client.listResources());
  for (const { uriTemplate } of (await client.listResourceTemplates()).resourceTemplates) {
    const uri = uriTemplate.replaceAll(/\{\w+\}/g, handle);
    await tell(uri, () => client.readResource({ uri }));
    const ref = { type: "ref/resource", uri: uriTemplate } as const;
    for (const [what, value] of Object.entries({ all: "", handle, most: handle.slice(0, -1), title: "stone" })) {
      await tell(`completing ${what}`, () => client.complete({ ref, argument: { name: "handle", value } }));
    }
    await tell(`listening to ${uri}`, async () => {
      const subscription = await client.listen({ resourceSubscriptions: [uri] });
      await subscription.close();
      return subscription.honoredFilter;
    });
  }
  for (const { name, arguments: args = [] } of (await client.listPrompts()).prompts) {
    await tell(name, () => client.getPrompt({ name }));
    for (const { name: argument } of args) {
      await tell(`${name} ${argument}`, () => client.getPrompt({ name, arguments: { [argument]: handle } }));
    }
  }
  for (const path of ["state", "state/note", "state/never", "turns", "state/", "other"]) {
    for (const point of ["", "?turn=1", "?turn=9", "?version=1", "?version=9", "?turn=x"]) {
      const url = new URL(`/threads/${handle}/${path}${point}`, reach.url);
      const known = { "authorization": `Bearer ${reach.token}`, "if-none-match": "*" };
      for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
        const { status, headers, body } = await fetch(url, { method, headers: known });
        await body?.cancel();
        told.push(`${method} ${path}${point}: ${status} ${headers.get("etag")} ${headers.get("cache-control")}`);
      }
      await tell(
        `${path}${point}`,
        async () => (await fetch(url, { headers: { authorization: known.authorization } })).text(),
      );
    }
  }
  return told.map((text) => text.replaceAll(handle, "HANDLE"));
}

Deno.test("isolation: no resource, prompt, stream or route tells bob more of alice's than of what never was", async () => {
  await using site = await openSite();
  const alice = await site.caller("alice");
  const handle = await site.store.mint("secret", { note: SECRET }, { user: "alice", title: "blue stone", turn: 1 });
  const never = handle.slice(0, -4) + (handle.endsWith("aaaa") ? "bbbb" : "aaaa");
  const onHers = await reading(await site.caller("bob"), handle);
  assertEquals(onHers, await reading(await site.caller("carol"), never));
  assert(onHers.length > 100 && !onHers.join().includes(SECRET) && !onHers.join().includes("blue stone"));
  // The same questions are answered where they may be.
  const own = (await reading(alice, handle)).join("\n");
  assertEquals([own.split(SECRET).length - 1, own.includes("blue stone")], [7, true]);
});

/** A user with a document, a client of each generation, and a stream; every client counts its requests from the same number. */
async function openDevices(site: Site, name: string, stack: AsyncDisposableStack) {
  const caller = await site.caller(name);
  const listener = stack.use(await connectListener(caller));
  const { handle } = await succeed(listener, "state_save", { kind: "canary", state: { of: name, n: 0 } });
  const subscription = await listener.client.listen({
    resourceSubscriptions: [toUri(handle)],
    resourcesListChanged: true,
  });
  stack.defer(() => subscription.close());
  const clients: Connection[] = [];
  for (const connect of Object.values(CLIENTS)) clients.push(stack.use(await connect(caller)));
  return { name, caller, handle, heard: listener.heard, clients };
}

Deno.test("isolation: 500 calls at once with equal ids and open streams, in both eras: each canary goes home", async () => {
  await using site = await openSite();
  await using stack = new AsyncDisposableStack();
  const users = [await openDevices(site, "alice", stack), await openDevices(site, "bob", stack)];
  const add = [{ op: "increment", path: "n", by: 1 }];
  const answers = await Promise.all(Array.from({ length: 500 }, async (_, i) => {
    const { name, caller, handle, clients } = users[i % 2];
    const client = clients[(i >> 1) % 2];
    switch (i >> 2 & 3) {
      case 0: // all of them with the very same id
        return [
          name,
          (await readCall(await Object.values(BARE_CALLS)[i >> 1 & 1](caller, "state_load", { handle }))).state,
        ];
      case 1:
        return [name, (await succeed(client, "state_load", { handle })).state];
      case 2:
        return [name, await text(client, "inspect_state", { handle, key: "of" })];
      default:
        return [name, (await succeed(client, "state_patch", { handle, ops: add })).handle];
    }
  }));
  const others: Readonly<Record<string, string>> = { alice: "bob", bob: "alice" };
  const handles: Readonly<Record<string, string>> = Object.fromEntries(users.map(({ name, handle }) => [name, handle]));
  for (const [name, answer] of answers) {
    const said = JSON.stringify(answer);
    assert(said.includes(String(name)) || said.includes(handles[String(name)]), said);
    assert(!said.includes(others[String(name)]) && !said.includes(handles[others[String(name)]]), said);
  }
  for (const { name, handle, heard } of users) {
    const written = answers.filter(([whose, answer]) => whose === name && answer === handle).length;
    assert(written > 50);
    assertEquals((await site.store.get(handle, { user: name })).state, { of: name, n: written });
    await until(() => heard.length >= written, "every write is heard");
    assertEquals(heard, Array(written).fill(toUri(handle)));
  }
});

for (const [name, connect] of Object.entries(CLIENTS)) {
  Deno.test(`isolation: one token's calls never see another's, with ${name}`, async () => {
    await using site = await openSite();
    await using alice = await connect(await site.caller("alice"));
    await using bob = await connect(await site.caller("bob"));
    const { handle } = await succeed(alice, "state_save", { kind: "secret", state: { note: SECRET } });
    assertEquals((await succeed(bob, "state_list", {})).handles, []);
    assert(!(await text(bob, "state_load", { handle })).includes(SECRET));
    assertEquals((await succeed(alice, "state_list", {})).handles.length, 1);
  });
}

Deno.test("isolation: the documents of the server itself are nobody's", async () => {
  await using site = await openSite();
  const { url, token } = await site.caller("alice");
  const [, id] = /^mcpstate_([a-z2-7]{8})_/.exec(token ?? "") ?? [];
  const answer = await readCall(await callTool({ url, token }, "state_load", { handle: `token_${id}` }));
  assertEquals((answer.error as { code: string }).code, "handle_not_found");
});
