import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { ageText } from "../../src/server/age.ts";
import { handleOf, toUri } from "../../src/server/resources.ts";
import { connectLegacy, connectModern, emptyHome, succeed } from "./client.ts";
import { connectHttpLegacy, connectHttpModern } from "./http_client.ts";
import { openSite } from "./http_site.ts";

Deno.test("toUri: names any document, and handleOf finds it again", () => {
  for (const handle of ["trip_k3x9q2ma", "a thread/of ours?", "東京#%", "mcpstate://handle/x"]) {
    assertEquals(handleOf(toUri(handle)), handle);
  }
  for (
    const uri of ["", "mcpstate://handle/", "https://example.com/trip", "mcpstate://handle/%", "mcpstate://other/x"]
  ) {
    assertEquals(handleOf(uri), undefined, uri);
  }
});

Deno.test("ageText: days, hours, minutes, or just now", () => {
  const texts = [-5_000, 0, 59_999, 60_000, 7_200_000, 86_400_000, 200_000_000].map(ageText);
  assertEquals(texts, [
    "just now",
    "just now",
    "just now",
    "1 minute ago",
    "2 hours ago",
    "1 day ago",
    "2 days ago",
  ]);
});

/** What clients of both generations do with resources and prompts. */
interface ResourceClient {
  listResources(params?: { cursor: string | undefined }): Promise<{
    resources: readonly {
      readonly uri: string;
      readonly name: string;
      readonly title?: string;
      readonly description?: string;
      readonly mimeType?: string;
    }[];
    nextCursor?: string;
  }>;
  listResourceTemplates(): Promise<{ resourceTemplates: readonly { readonly uriTemplate: string }[] }>;
  readResource(
    params: { uri: string },
  ): Promise<{ contents: readonly { readonly uri: string; readonly text?: unknown }[] }>;
  listPrompts(): Promise<{ prompts: readonly { readonly name: string }[] }>;
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<{ messages: readonly unknown[] }>;
  complete(params: {
    ref: { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string };
    argument: { name: string; value: string };
  }): Promise<{ completion: { values: readonly string[]; hasMore?: boolean } }>;
}

/** Both clients over HTTP. Each is the other's neighbour, and sees nothing of it. */
for (const [name, connect] of [["1.x", connectHttpLegacy], ["2.x", connectHttpModern]] as const) {
  Deno.test(`resources: every document of the user is one, by pages, with title and age, for the ${name} client`, async () => {
    await using site = await openSite();
    for (let i = 0; i < 30; i++) {
      await site.store.mint("trip", { i }, { user: "alice", title: `trip ${i}`, writer: "phone" });
    }
    await site.store.mint("secret", { blue: "stone" }, { user: "bob", title: "not hers" });
    await using alice = await connect(await site.caller("alice"));
    const client: ResourceClient = alice.client;
    // The 2.x client goes through all pages by itself.
    let page = await client.listResources();
    const resources = [...page.resources];
    assertEquals(resources.length, name === "1.x" ? 25 : 30);
    while (page.nextCursor !== undefined) {
      page = await client.listResources({ cursor: page.nextCursor });
      resources.push(...page.resources);
    }
    assertEquals(resources.map(({ title }) => title), Array.from({ length: 30 }, (_, i) => `trip ${29 - i}`));
    const [newest] = resources;
    assertEquals(newest.mimeType, "application/json");
    assertEquals(newest.description, "trip, version 1, by phone, just now");
    assertEquals(newest.uri, toUri(newest.name));
    const read = await client.readResource({ uri: newest.uri });
    assertEquals(JSON.parse(String(read.contents[0].text)).state, { i: 29 });
    assertEquals(read.contents[0].text, (await alice.raw("state_load", { handle: newest.name })).content[0].text);
    assertEquals((await client.listResourceTemplates()).resourceTemplates[0].uriTemplate, "mcpstate://handle/{handle}");
    await assertRejects(() => client.listResources({ cursor: "nonsense" }), Error, "cursor");
  });

  Deno.test(`resources: another user's is one that never was, for the ${name} client`, async () => {
    await using site = await openSite();
    const theirs = await site.store.mint("secret", { blue: "stone" }, { user: "bob", title: "not hers" });
    await using alice = await connect(await site.caller("alice"));
    const client: ResourceClient = alice.client;
    const refusal = async (uri: string) =>
      (await assertRejects(() => client.readResource({ uri }), Error)).message.replaceAll(handleOf(uri) ?? uri, "IT");
    const never = `${theirs.slice(0, -4)}${theirs.endsWith("aaaa") ? "bbbb" : "aaaa"}`;
    assertEquals(await refusal(toUri(theirs)), await refusal(toUri(never)));
    assertStringIncludes(await refusal("https://example.com/"), "IT");
    assertEquals((await client.listResources()).resources, []);
    await assertRejects(() => client.getPrompt({ name: "resume", arguments: { handle: theirs } }), Error, theirs);
  });

  Deno.test(`resume: offers the newest documents, or takes up the one that is named, for the ${name} client`, async () => {
    await using site = await openSite();
    await using alice = await connect(await site.caller("alice"));
    const client: ResourceClient = alice.client;
    const said = async (args?: Record<string, string>): Promise<string> =>
      JSON.stringify((await client.getPrompt({ name: "resume", arguments: args })).messages[0]);
    assertEquals((await client.listPrompts()).prompts.map((prompt) => prompt.name), ["resume"]);
    assertStringIncludes(await said(), "no earlier work yet");
    const { handle } = await succeed(alice, "state_save", { kind: "trip", title: "Aarhus", state: { city: "Aarhus" } });
    assertMatch(await said(), new RegExp(`- ${handle}: \\\\"Aarhus\\\\" \\(trip, version 1, by .*, just now\\)`));
    assertStringIncludes(await said({ handle }), `state_load`);
    await assertRejects(() => client.getPrompt({ name: "other" }), Error, "no prompt other");
  });

  Deno.test(`completion: a handle by what stands in it or in its title, the user's own alone, for the ${name} client`, async () => {
    await using site = await openSite();
    const mint = (user: string, kind: string, title: string) => site.store.mint(kind, {}, { user, title });
    const [aarhus, copenhagen] = [await mint("alice", "trip", "Aarhus"), await mint("alice", "trip", "København")];
    await mint("bob", "trip", "Aarhus by bike");
    await using alice = await connect(await site.caller("alice"));
    const client: ResourceClient = alice.client;
    const refs = [
      { type: "ref/prompt", name: "resume" },
      { type: "ref/resource", uri: "mcpstate://handle/{handle}" },
    ] as const;
    for (const ref of refs) {
      const typed = async (value: string) =>
        (await client.complete({ ref, argument: { name: "handle", value } })).completion;
      assertEquals(await typed(""), { values: [copenhagen, aarhus], hasMore: false });
      assertEquals(await typed("trip_"), { values: [copenhagen, aarhus], hasMore: false });
      assertEquals((await typed(aarhus.slice(0, -1))).values, [aarhus]);
      assertEquals((await typed("aar")).values, [aarhus]);
      assertEquals((await typed("købe")).values, [copenhagen]);
      assertEquals(await typed("bike"), { values: [], hasMore: false });
      await assertRejects(() => client.complete({ ref, argument: { name: "other", value: "" } }), Error, "Only handle");
    }
    const other = { type: "ref/prompt", name: "other" } as const;
    await assertRejects(
      () => client.complete({ ref: other, argument: { name: "handle", value: "" } }),
      Error,
      "resume",
    );
    for (let i = 0; i < 100; i++) await mint("alice", "log", "many");
    const all = (await client.complete({ ref: refs[0], argument: { name: "handle", value: "" } })).completion;
    assertEquals([all.values.length, all.hasMore], [100, true]);
  });
}

Deno.test("resources: what is advertised is what can be delivered, in each era over each transport", async () => {
  await using site = await openSite();
  await using home = emptyHome();
  await using legacyHttp = await connectHttpLegacy(await site.caller("alice"));
  await using modernHttp = await connectHttpModern(await site.caller("alice"));
  await using legacyStdio = await connectLegacy({ home: home.path });
  await using modernStdio = await connectModern({ home: home.path });
  assertEquals([
    legacyHttp.client.getServerCapabilities()?.resources,
    legacyStdio.client.getServerCapabilities()?.resources,
    modernHttp.client.getServerCapabilities()?.resources,
    modernStdio.client.getServerCapabilities()?.resources,
  ], [
    { subscribe: false, listChanged: false },
    { subscribe: true, listChanged: false },
    { subscribe: true, listChanged: true },
    { subscribe: true, listChanged: true },
  ]);
  await using anonymous = await openSite({ identity: "anonymous" });
  await using nobody = await connectHttpModern({ url: anonymous.url });
  assertEquals(nobody.client.getServerCapabilities()?.resources, undefined);
});

Deno.test("resources: a large one is an outline within an answer's bounds", async () => {
  await using site = await openSite();
  const state = { rows: Array.from({ length: 20_000 }, (_, i) => ({ id: i, name: `row ${i}` })) };
  const handle = await site.store.mint("table", state, { user: "alice" });
  await using alice = await connectHttpModern(await site.caller("alice"));
  const { contents: [content] } = await alice.client.readResource({ uri: toUri(handle) });
  assert("text" in content && content.text.length <= 32_000);
  assertStringIncludes(content.text, "list[20000]");
});
