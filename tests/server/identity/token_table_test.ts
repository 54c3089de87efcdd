/**
 * The table of tokens, in both protocol eras over HTTP: which let in, and what all others are told, to the letter.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { exportSPKI, generateKeyPair, importJWK, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { HandleExpired } from "../../../src/document/errors.ts";
import { eitherBearer } from "../../../src/server/identity/bearer.ts";
import { TOKENS_USER } from "../../../src/server/identity/callers.ts";
import { oauthIdentity } from "../../../src/server/identity/oauth.ts";
import { addToken, revokeToken, tokenIdentity } from "../../../src/server/identity/tokens.ts";
import { HandleStore } from "../../../src/store/store.ts";
import { BARE_CALLS, readCall } from "../http_client.ts";
import { openSite, type Site } from "../http_site.ts";
import { type Issuer, openIssuer } from "./issuer.ts";

const AUDIENCE = "https://state.example.com/mcp";
const METADATA = 'resource_metadata="https://state.example.com/.well-known/oauth-protected-resource/mcp"';
const BOTH = 'scope="mcpstate:read mcpstate:write"';

/** What a caller is answered: the status, the challenge if there is one, and the message. */
interface Answered {
  readonly status: number;
  readonly challenge: string | null;
  readonly message: string;
}

const SERVED: Answered = { status: 200, challenge: null, message: "served" };
const NO_TOKEN = { status: 401, challenge: `Bearer ${BOTH}, ${METADATA}`, message: "A bearer token is needed." };
const DOWN = {
  status: 503,
  challenge: null,
  message: "Tokens cannot be checked just now: the issuer's keys are out of reach. Try again.",
};

function refused(message: string): Answered {
  return { status: 401, challenge: `Bearer error="invalid_token", ${BOTH}, ${METADATA}`, message };
}

const INVALID = refused("The token is not valid here.");
const NO_BEARER = refused("The Authorization header holds no bearer token.");

function claim(name: string): Answered {
  return refused(`The token's claim "${name}" is missing or not as it must be.`);
}

function lacks(scope: "mcpstate:read" | "mcpstate:write"): Answered {
  return {
    status: 403,
    challenge: `Bearer error="insufficient_scope", scope="${scope}", ${METADATA}`,
    message: `The token needs the scope ${scope}.`,
  };
}

/** How a token comes: as the header that it should be in, or in some other way. */
interface Sent {
  readonly token?: string;
  readonly headers?: Record<string, string>;
  readonly query?: string;
}

/** One call in each era, which must be answered alike. Nothing of a token is ever repeated. */
async function ask({ url }: Site, sent: Sent, tool: "state_list" | "state_save"): Promise<Answered> {
  const answers: Answered[] = [];
  for (const call of Object.values(BARE_CALLS)) {
    const { token, headers, query = "" } = sent;
    const args = tool === "state_list" ? {} : { kind: "cart", state: {} };
    const answer = await call({ url: new URL(query, url), token }, tool, args, { id: 7, headers });
    const { status } = answer;
    const challenge = answer.headers.get("www-authenticate");
    if (status === 200) {
      assertEquals((await readCall(answer)).ok, true);
      answers.push({ status, challenge, message: "served" });
      continue;
    }
    assertEquals(answer.headers.get("content-type"), "application/json");
    assertEquals(answer.headers.get("retry-after"), status === 503 ? "5" : null);
    const text = await answer.text();
    for (const secret of [token, ...Object.values(headers ?? {}), query.slice(1)]) {
      assert(!secret || secret === "Bearer" || !`${text} ${challenge}`.includes(secret), "a token is repeated");
    }
    const { jsonrpc, id, error: { code, message, ...more } } = JSON.parse(text);
    // Who is not known has not been read: only a refusal by scope knows which request it is about.
    assertEquals([jsonrpc, id, code, more], ["2.0", status === 403 ? 7 : null, -32000, {}]);
    answers.push({ status, challenge, message });
  }
  assertEquals(answers[0], answers[1], "both eras");
  return answers[0];
}

/** A table's row: what is sent, and what a call that reads is answered; one that writes the same, unless that is said. */
type Row = readonly [sent: Sent, reading: Answered, writing?: Answered];

async function check(t: Deno.TestContext, site: Site, table: Readonly<Record<string, Row>>): Promise<void> {
  for (const [name, [sent, reading, writing = reading]] of Object.entries(table)) {
    await t.step(name, async () => {
      assertEquals(await ask(site, sent, "state_list"), reading);
      assertEquals(await ask(site, sent, "state_save"), writing);
      assertEquals(await ask(site, sent, "state_list"), reading, "what is remembered changes nothing");
    });
  }
}

async function openGuarded(issuer: Issuer, cooldownMs?: number): Promise<Site> {
  const store = await HandleStore.fromUrl("sqlite:///:memory:");
  const oauth = oauthIdentity({ issuer: issuer.issuer, audience: [AUDIENCE], times: { cooldownMs } });
  const site = await openSite({
    identity: eitherBearer(tokenIdentity(store), oauth),
    issuer: issuer.issuer,
    resource: new URL(AUDIENCE),
  });
  return {
    ...site,
    store,
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]();
      await store.close();
    },
  };
}

const good = { sub: "alice", aud: AUDIENCE };

Deno.test("tokens: the table of an issuer's", async (t) => {
  await using issuer = await openIssuer();
  await using other = await openIssuer();
  await using site = await openGuarded(issuer);
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer.issuer, exp: now + 300, scope: "mcpstate:read mcpstate:write", ...good };
  const token = async (changes: JWTPayload) => ({ token: await issuer.token({ ...good, ...changes }) });
  const [publicKey] = JSON.parse(issuer.keys).keys;
  const verifying = await importJWK({ ...publicKey, alg: "RS256" }, "RS256", { extractable: true }) as CryptoKey;
  const shared = new TextEncoder().encode(await exportSPKI(verifying));
  const somebody = await generateKeyPair("RS256");
  const bySomebody = (header: object) =>
    new SignJWT(claims).setProtectedHeader({ alg: "RS256", ...header }).sign(somebody.privateKey);
  const whole = await issuer.token(good);
  const [head, body, signature] = whole.split(".");
  const base64 = (text: string) => btoa(text).replace(/=+$/, "");
  const changed = base64(JSON.stringify({ ...claims, sub: "bob" }));

  await check(t, site, {
    "none": [{}, NO_TOKEN],
    "a good one": [{ token: whole }, SERVED],
    "a good one of another subject": [await token({ sub: "bob" }), SERVED],
    "one of several audiences": [await token({ aud: ["https://else.example", AUDIENCE] }), SERVED],
    "several audiences, none of them ours": [
      await token({ aud: ["https://else.example", `${AUDIENCE}s`] }),
      claim("aud"),
    ],
    "wrong audience": [await token({ aud: "https://else.example/mcp" }), claim("aud")],
    "an audience that begins like ours": [await token({ aud: `${AUDIENCE}/x` }), claim("aud")],
    "no audience": [await token({ aud: undefined }), claim("aud")],
    "wrong issuer": [await token({ iss: other.issuer }), claim("iss")],
    "no issuer": [await token({ iss: undefined }), claim("iss")],
    "another issuer's": [{ token: await other.token({ ...good, iss: other.issuer }) }, INVALID],
    "another issuer's under our issuer's name": [
      { token: await other.token({ ...good, iss: issuer.issuer }) },
      INVALID,
    ],
    "expired": [await token({ exp: now - 60 }), refused("The token has expired.")],
    "expired within the skew of clocks": [await token({ exp: now - 1 }), SERVED],
    "not yet valid": [await token({ nbf: now + 60 }), claim("nbf")],
    "no end": [await token({ exp: undefined }), claim("exp")],
    "an end that is no number": [await token({ exp: "tomorrow" as never }), claim("exp")],
    "no subject": [await token({ sub: undefined }), claim("sub")],
    "an empty subject": [await token({ sub: "" }), claim("sub")],
    "a subject that is no text": [await token({ sub: 7 as never }), claim("sub")],
    "half a surrogate pair as subject": [
      await token({ sub: "\ud800" }),
      refused('The token\'s claim "sub" is not well-formed text.'),
    ],
    "algorithm none": [{ token: new UnsecuredJWT(claims).encode() }, INVALID],
    "algorithm none with a signature": [{ token: `${base64('{"alg":"none"}')}.${body}.${signature}` }, INVALID],
    "HS256 with the public key": [
      { token: await new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "first" }).sign(shared) },
      INVALID,
    ],
    "unknown key": [{ token: await bySomebody({ kid: "second" }) }, INVALID],
    "somebody's key under a known name": [{ token: await bySomebody({ kid: "first" }) }, INVALID],
    "a key that it brings along": [{ token: await bySomebody({ jwk: publicKey }) }, INVALID],
    "changed": [{ token: `${head}.${changed}.${signature}` }, INVALID],
    "without a signature": [{ token: `${head}.${body}.` }, INVALID],
    "cut": [{ token: whole.slice(0, -10) }, INVALID],
    "no token at all": [{ token: "a.b.c" }, INVALID],
    "no scope": [await token({ scope: undefined }), lacks("mcpstate:read"), lacks("mcpstate:write")],
    "no scope of ours": [await token({ scope: "openid profile" }), lacks("mcpstate:read"), lacks("mcpstate:write")],
    "scopes that begin like ours": [
      await token({ scope: "mcpstate:readonly mcpstate" }),
      lacks("mcpstate:read"),
      lacks("mcpstate:write"),
    ],
    "a scope to read alone": [await token({ scope: "mcpstate:read" }), SERVED, lacks("mcpstate:write")],
    "a scope to write alone": [await token({ scope: "mcpstate:write" }), lacks("mcpstate:read"), SERVED],
    "scopes in scp": [await token({ scope: undefined, scp: ["mcpstate:read"] }), SERVED, lacks("mcpstate:write")],
    "in the query": [{ query: `?access_token=${whole}` }, NO_TOKEN],
    "in the query beside one that is no token": [{ query: `?access_token=${whole}`, token: "a.b.c" }, INVALID],
    "two headers": [{ headers: { authorization: `Bearer ${whole}, Bearer ${whole}` } }, NO_BEARER],
    "two in one header": [{ headers: { authorization: `Bearer ${whole} ${whole}` } }, NO_BEARER],
    "another scheme": [{ headers: { authorization: `Basic ${whole}` } }, NO_BEARER],
    "no blank": [{ headers: { authorization: `Bearer${whole}` } }, NO_BEARER],
    "the scheme alone": [{ headers: { authorization: "Bearer" } }, NO_BEARER],
    "the scheme in small letters": [{ headers: { authorization: `bearer  ${whole}` } }, SERVED],
  });
});

Deno.test("tokens: two Authorization headers on the wire let nobody in, though each alone would", async () => {
  await using issuer = await openIssuer();
  await using site = await openGuarded(issuer);
  const token = await issuer.token(good);
  const ask = async (count: number) => {
    using connection = await Deno.connect({ hostname: site.url.hostname, port: Number(site.url.port) });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const head = [
      "POST /mcp HTTP/1.1",
      `host: ${site.url.host}`,
      "connection: close",
      "content-type: application/json",
      "accept: application/json, text/event-stream",
      ...Array.from({ length: count }, () => `authorization: Bearer ${token}`),
      `content-length: ${body.length}`,
    ];
    await connection.write(new TextEncoder().encode(`${head.join("\r\n")}\r\n\r\n${body}`));
    return Number(/^HTTP\/1.1 (\d+)/.exec(await new Response(connection.readable).text())?.[1]);
  };
  assertEquals([await ask(1), await ask(2)], [200, 401]);
});

Deno.test("tokens: keys that rotate, and a server of keys that is down", async (t) => {
  await using issuer = await openIssuer();
  await using site = await openGuarded(issuer, 0);
  const old = { token: await issuer.token(good) };
  issuer.outage = 500;
  await check(t, site, {
    "down from the start": [old, DOWN],
    "down, and what is no token": [{ token: "a.b.c" }, INVALID],
    "down, and no token": [{}, NO_TOKEN],
  });
  issuer.outage = undefined;
  await check(t, site, { "there again": [old, SERVED] });
  await issuer.rotate("second");
  await check(t, site, {
    "a key that came since": [{ token: await issuer.token({ ...good, sub: "bob" }) }, SERVED],
    "the key before": [{ token: await issuer.token({ ...good, sub: "carol" }, { kid: "first" }) }, SERVED],
    "a key that never was": [{ token: await issuer.token({ ...good, sub: "dora" }, { kid: "never" }) }, INVALID],
  });
  const withdrawn = { token: await issuer.token({ ...good, sub: "erik" }) };
  await issuer.rotate("third", { alone: true });
  await check(t, site, {
    "the newest key": [{ token: await issuer.token({ ...good, sub: "frida" }) }, SERVED],
    "a key that was withdrawn": [withdrawn, INVALID],
  });
  const unknown = { token: await issuer.token({ ...good, sub: "gorm" }, { kid: "fourth" }) };
  issuer.outage = 500;
  await check(t, site, {
    "down, and a key that is kept": [{ token: await issuer.token({ ...good, sub: "hilda" }) }, SERVED],
    "down, and a key that is not": [unknown, DOWN],
  });
});

Deno.test("tokens: the table of the operator's own", async (t) => {
  await using issuer = await openIssuer();
  await using site = await openGuarded(issuer);
  const { store } = site;
  const user = "alice";
  const add = (more: object = {}) => addToken(store, { user, scopes: ["mcpstate:read", "mcpstate:write"], ...more });
  const kept = await add();
  const { token } = kept;
  const revoked = await add();
  await revokeToken(store, revoked.info.id);
  const expired = await add({ ttlDays: 1e-9 });
  for (let isOver = false; !isOver;) {
    const look = store.find(`token_${expired.info.id}`, { user: TOKENS_USER });
    isOver = await look.then(() => false, (error) => error instanceof HandleExpired);
  }
  const secret = token.slice(-43);
  await check(t, site, {
    "a good one": [{ token }, SERVED],
    "to read alone": [{ token: (await add({ scopes: ["mcpstate:read"] })).token }, SERVED, lacks("mcpstate:write")],
    "to write alone": [{ token: (await add({ scopes: ["mcpstate:write"] })).token }, lacks("mcpstate:read"), SERVED],
    "revoked": [{ token: revoked.token }, INVALID],
    "expired": [{ token: expired.token }, refused("The token has expired.")],
    "unknown": [{ token: `mcpstate_aaaaaaaa_${secret}` }, INVALID],
    "changed": [{ token: `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}` }, INVALID],
    "in capitals": [{ token: token.toUpperCase() }, INVALID],
    "cut": [{ token: token.slice(0, -1) }, INVALID],
    "its id alone": [{ token: `mcpstate_${kept.info.id}` }, INVALID],
    "in the query": [{ query: `?access_token=${token}` }, NO_TOKEN],
  });
});
