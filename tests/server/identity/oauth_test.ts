/**
 * Tokens of an issuer: which are let in, as whom, and what happens when its keys change or are out of reach.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { exportSPKI, generateKeyPair, importJWK, SignJWT, UnsecuredJWT } from "jose";
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

/** The status of a call with a token, and the code of its challenge. */
async function ask({ url }: Site, token: string | undefined, tool = "state_list"): Promise<readonly unknown[]> {
  const args = tool === "state_list" ? {} : { kind: "cart", state: {} };
  const answer = await callTool({ url, token }, tool, args);
  const text = await answer.text();
  assert(token === undefined || !text.includes(token));
  const challenge = answer.headers.get("www-authenticate");
  if (answer.status === 401 || answer.status === 403) {
    assertStringIncludes(
      challenge ?? "",
      'resource_metadata="https://state.example.com/.well-known/oauth-protected-resource/mcp"',
    );
  }
  return [answer.status, /error="(\w+)"/.exec(challenge ?? "")?.[1]];
}

const SERVED = [200, undefined];
const UNKNOWN = [401, "invalid_token"];
const good = { sub: "alice", aud: AUDIENCE };

Deno.test("oauthIdentity: the table of tokens", async (t) => {
  await using issuer = await openIssuer();
  await using other = await openIssuer();
  await using site = await openGuarded(issuer);
  const now = Math.floor(Date.now() / 1000);
  const [publicKey] = JSON.parse(issuer.keys).keys;
  const verifying = await importJWK({ ...publicKey, alg: "RS256" }, "RS256", { extractable: true }) as CryptoKey;
  const shared = new TextEncoder().encode(await exportSPKI(verifying));
  const claims = { iss: issuer.issuer, exp: now + 300, scope: "mcpstate:read mcpstate:write", ...good };
  const signedByOther = await generateKeyPair("RS256");
  const whole = await issuer.token(good);
  const [head, body, signature] = whole.split(".");
  const changed = btoa(JSON.stringify({ ...claims, sub: "bob" })).replace(/=+$/, "");

  const table: Readonly<Record<string, readonly [string | undefined, readonly unknown[]]>> = {
    "none": [undefined, UNKNOWN],
    "a good one": [whole, SERVED],
    "one of several audiences": [await issuer.token({ ...good, aud: ["https://else.example", AUDIENCE] }), SERVED],
    "scopes in scp": [await issuer.token({ ...good, scope: undefined, scp: ["mcpstate:read"] }), SERVED],
    "wrong audience": [await issuer.token({ ...good, aud: "https://else.example/mcp" }), UNKNOWN],
    "an audience that begins like ours": [await issuer.token({ ...good, aud: `${AUDIENCE}/x` }), UNKNOWN],
    "no audience": [await issuer.token({ sub: "alice" }), UNKNOWN],
    "wrong issuer": [await issuer.token({ ...good, iss: other.issuer }), UNKNOWN],
    "another issuer's": [await other.token({ ...good, iss: other.issuer }), UNKNOWN],
    "another issuer's key under our issuer's name": [await other.token({ ...good, iss: issuer.issuer }), UNKNOWN],
    "no issuer": [await issuer.token({ ...good, iss: undefined }), UNKNOWN],
    "algorithm none": [new UnsecuredJWT(claims).encode(), UNKNOWN],
    "algorithm none with a signature": [`${btoa('{"alg":"none"}').replace(/=+$/, "")}.${body}.${signature}`, UNKNOWN],
    "HS256 with the public key": [
      await new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "first" }).sign(shared),
      UNKNOWN,
    ],
    "expired": [await issuer.token({ ...good, exp: now - 60 }), UNKNOWN],
    "not yet valid": [await issuer.token({ ...good, nbf: now + 60 }), UNKNOWN],
    "no subject": [await issuer.token({ aud: AUDIENCE }), UNKNOWN],
    "an empty subject": [await issuer.token({ ...good, sub: "" }), UNKNOWN],
    "a subject that is no text": [await issuer.token({ ...good, sub: 7 as never }), UNKNOWN],
    "half a surrogate pair as subject": [await issuer.token({ ...good, sub: "\ud800" }), UNKNOWN],
    "no end": [await issuer.token({ ...good, exp: undefined }), UNKNOWN],
    "an end that is no number": [await issuer.token({ ...good, exp: "tomorrow" as never }), UNKNOWN],
    "unknown key": [
      await new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "second" }).sign(signedByOther.privateKey),
      UNKNOWN,
    ],
    "a key of somebody's under a known name": [
      await new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "first" }).sign(signedByOther.privateKey),
      UNKNOWN,
    ],
    "a key that it brings along": [
      await new SignJWT(claims).setProtectedHeader({ alg: "RS256", jwk: publicKey }).sign(signedByOther.privateKey),
      UNKNOWN,
    ],
    "changed": [`${head}.${changed}.${signature}`, UNKNOWN],
    "without a signature": [`${head}.${body}.`, UNKNOWN],
    "cut": [whole.slice(0, -10), UNKNOWN],
    "no token at all": ["a.b.c", UNKNOWN],
    "a token of the operator's that nobody added": [`mcpstate_aaaaaaaa_${"a".repeat(43)}`, UNKNOWN],
    "no scope of ours": [await issuer.token({ ...good, scope: "openid profile" }), [403, "insufficient_scope"]],
    "a scope that begins like ours": [
      await issuer.token({ ...good, scope: "mcpstate:readonly mcpstate" }),
      [403, "insufficient_scope"],
    ],
    "no scope": [await issuer.token({ ...good, scope: undefined }), [403, "insufficient_scope"]],
    "a scope to write alone": [await issuer.token({ ...good, scope: "mcpstate:write" }), [403, "insufficient_scope"]],
  };
  for (const [name, [token, expected]] of Object.entries(table)) {
    await t.step(name, async () => {
      assertEquals(await ask(site, token), expected);
      assertEquals(await ask(site, token), expected, "the second time");
    });
  }
  await t.step("a scope to read alone does not write", async () => {
    const token = await issuer.token({ ...good, scope: "mcpstate:read" });
    assertEquals(await ask(site, token, "state_save"), [403, "insufficient_scope"]);
  });
  await t.step("a token in the address or in another scheme", async () => {
    for (const authorization of [`Basic ${whole}`, `Bearer${whole}`, `Bearer ${whole} ${whole}`, "Bearer", "Bearer "]) {
      const answer = await callTool({ url: site.url }, "state_list", {}, { headers: { authorization } });
      assertEquals([answer.status, (await answer.text()).includes(whole)], [401, false]);
    }
    const answer = await callTool({ url: new URL(`?access_token=${whole}`, site.url) }, "state_list", {});
    assertEquals(answer.status, 401);
    await answer.body?.cancel();
  });
});

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

Deno.test("oauthIdentity: while keys are out of reach the answer is 503, and then it works again", async () => {
  await using issuer = await openIssuer();
  await using site = await openGuarded(issuer);
  const token = await issuer.token(good);
  const down = [503, undefined];
  issuer.outage = 500;
  assertEquals(await ask(site, token), down);
  issuer.outage = undefined;
  issuer.claims = "https://somebody.else";
  assertEquals(await ask(site, token), down, "the metadata is another issuer's");
  issuer.claims = undefined;
  assertEquals(await ask(site, token), SERVED);
  issuer.outage = 500;
  assertEquals(await ask(site, await issuer.token({ ...good, sub: "bob" })), SERVED, "keys are kept");
  assertEquals(await ask(site, "no token"), UNKNOWN, "what is no token needs no key to be refused");
});

Deno.test("oauthIdentity: a server of keys that is not there is 503", async () => {
  const issuer = await openIssuer();
  const token = await issuer.token(good);
  await using site = await openGuarded(issuer, { from: "url", url: issuer.keysUrl });
  await issuer[Symbol.asyncDispose]();
  assertEquals(await ask(site, token), [503, undefined]);
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
