/**
 * Tokens of an issuer: as whom they are let in, how they may be signed, and where keys come from.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { subjectUser } from "../../../src/server/identity/callers.ts";
import type { KeysAt } from "../../../src/server/identity/key_places.ts";
import type { KeyTimes } from "../../../src/server/identity/keys.ts";
import { oauthIdentity } from "../../../src/server/identity/oauth.ts";
import { callTool, readCall } from "../http_client.ts";
import { openSite, type Site } from "../http_site.ts";
import { type Issuer, openIssuer } from "./issuer.ts";

const AUDIENCE = "https://state.example.com/mcp";

/** A server that takes the issuer's tokens. */
function openGuarded(issuer: Issuer, keys?: KeysAt, times?: KeyTimes): Promise<Site> {
  const identity = oauthIdentity({ issuer: issuer.issuer, audience: [AUDIENCE], keys, times });
  return openSite({ identity, issuer: issuer.issuer, resource: new URL(AUDIENCE) });
}

/** The status of a call with a token. */
async function ask({ url }: Site, token: string): Promise<number> {
  const answer = await callTool({ url, token }, "state_list", {});
  await answer.body?.cancel();
  return answer.status;
}

const SERVED = 200;
const UNKNOWN = 401;
const DOWN = 503;
const good = { sub: "alice", aud: AUDIENCE };

for (const algorithm of ["RS256", "PS256", "ES256", "ES384", "EdDSA"]) {
  Deno.test(`oauthIdentity: a token signed with ${algorithm} is let in`, async () => {
    await using issuer = await openIssuer();
    await issuer.rotate("second", { algorithm });
    await using site = await openGuarded(issuer);
    assertEquals(await ask(site, await issuer.token(good, { alg: algorithm })), SERVED);
  });
}

Deno.test("oauthIdentity: keys are found by either kind of metadata, at an address, or in a file", async () => {
  for (const documents of ["oauth-authorization-server", "openid-configuration"] as const) {
    await using issuer = await openIssuer(documents);
    await using site = await openGuarded(issuer);
    assertEquals(await ask(site, await issuer.token(good)), SERVED, documents);
  }
  await using issuer = await openIssuer();
  const path = await Deno.makeTempFile();
  await Deno.writeTextFile(path, issuer.keys);
  for (const keys of [{ from: "url", url: issuer.keysUrl }, { from: "file", path }] as const) {
    issuer.claims = "https://somebody.else"; // the metadata is not asked
    await using site = await openGuarded(issuer, keys);
    assertEquals(await ask(site, await issuer.token(good)), SERVED, keys.from);
  }
  await Deno.remove(path);
});

Deno.test("oauthIdentity: metadata that speaks for another issuer is 503, and then it works again", async () => {
  await using issuer = await openIssuer();
  await using site = await openGuarded(issuer);
  const token = await issuer.token(good);
  issuer.claims = "https://somebody.else";
  assertEquals(await ask(site, token), DOWN);
  issuer.claims = undefined;
  assertEquals(await ask(site, token), SERVED);
});

Deno.test("oauthIdentity: a server of keys that is not there is 503", async () => {
  const issuer = await openIssuer();
  const token = await issuer.token(good);
  await using site = await openGuarded(issuer, { from: "url", url: issuer.keysUrl });
  await issuer[Symbol.asyncDispose]();
  assertEquals(await ask(site, token), DOWN);
});

Deno.test("oauthIdentity: keys are fetched once, and anew for a key that is not there", async () => {
  await using issuer = await openIssuer();
  await using site = await openGuarded(issuer, { from: "issuer" }, { cooldownMs: 0 });
  const tokens = await Promise.all(["alice", "bob", "carol"].map((sub) => issuer.token({ ...good, sub })));
  for (const token of tokens) assertEquals(await ask(site, token), SERVED);
  assertEquals(issuer.asked, 1);
  await issuer.rotate("second");
  assertEquals(await ask(site, await issuer.token(good)), SERVED);
  assertEquals(issuer.asked, 2);
  await issuer.rotate("third", { alone: true });
  assertEquals(await ask(site, await issuer.token(good)), SERVED);
  assertEquals(await ask(site, await issuer.token({ ...good, sub: "dora" }, { kid: "second" })), UNKNOWN);
});

Deno.test("oauthIdentity: unknown keys do not make it ask again and again", async () => {
  await using issuer = await openIssuer();
  await using site = await openGuarded(issuer);
  assertEquals(await ask(site, await issuer.token(good)), SERVED);
  for (let i = 0; i < 20; i++) {
    assertEquals(await ask(site, await issuer.token(good, { kid: `made-up-${i}` })), UNKNOWN);
  }
  assertEquals(issuer.asked, 1);
});

Deno.test("oauthIdentity: the same subject at two issuers is two users", async () => {
  await using first = await openIssuer();
  await using second = await openIssuer();
  const store = await openGuarded(first);
  await using site = store;
  const { handle } = await readCall(
    await callTool({ url: site.url, token: await first.token(good) }, "state_save", { kind: "cart", state: {} }),
  );
  const identity = oauthIdentity({ issuer: second.issuer, audience: [AUDIENCE] });
  const headers = new Headers({ authorization: `Bearer ${await second.token(good)}` });
  const { user } = await identity.identify({ headers, address: "127.0.0.1" });
  assert(user !== subjectUser(first.issuer, "alice"));
  assertEquals((await site.store.list(user)).handles, []);
  assertEquals((await site.store.list(subjectUser(first.issuer, "alice"))).handles.map((each) => each.handle), [
    handle,
  ]);
});

Deno.test("the metadata document names the issuer", async () => {
  await using issuer = await openIssuer();
  await using site = await openGuarded(issuer);
  const answer = await fetch(new URL("/.well-known/oauth-protected-resource/mcp", site.url));
  const document = await answer.json();
  assertEquals(
    [document.resource, document.authorization_servers, document.scopes_supported],
    [AUDIENCE, [issuer.issuer], ["mcpstate:read", "mcpstate:write"]],
  );
});
