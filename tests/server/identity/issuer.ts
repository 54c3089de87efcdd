/**
 * An issuer of access tokens on loopback: metadata, keys, and tokens as good or bad as a test wants them.
 *
 * @module
 */

import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from "jose";

type Key = Awaited<ReturnType<typeof generateKeyPair>>;

/** An issuer. */
export class Issuer implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #pairs = new Map<string, Key>();
  #keys: JWK[] = [];
  /** What it answers instead of its documents, if it is out of order. */
  outage: number | undefined;
  /** How often its keys were asked for. */
  asked = 0;
  /** Which issuer its metadata says it is. */
  claims: string | undefined;

  constructor(
    readonly documents: "oauth-authorization-server" | "openid-configuration" = "oauth-authorization-server",
  ) {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#answer(request),
    );
  }

  /** Its name in tokens. */
  get issuer(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Where its keys are. */
  get keysUrl(): URL {
    return new URL("/keys", this.issuer);
  }

  /** Its public keys, as a file would hold them. */
  get keys(): string {
    return JSON.stringify({ keys: this.#keys });
  }

  /** Signs with a new key from now on; with `alone`, forgets those before. */
  async rotate(kid: string, { algorithm = "RS256", alone = false } = {}): Promise<void> {
    const pair = await generateKeyPair(algorithm, { extractable: true });
    this.#pairs.set(kid, pair);
    const key = { ...await exportJWK(pair.publicKey), kid, alg: algorithm, use: "sig" };
    this.#keys = [...alone ? [] : this.#keys, key];
  }

  /** A token that is good for five minutes, but for what is said otherwise; `undefined` leaves a claim out. */
  async token(claims: JWTPayload = {}, header: Partial<JWTHeaderParameters> = {}): Promise<string> {
    const kid = header.kid ?? this.#keys.at(-1)?.kid ?? "";
    const pair = this.#pairs.get(kid) ?? [...this.#pairs.values()].at(-1);
    if (pair === undefined) throw new Error("the issuer has no key yet");
    const now = Math.floor(Date.now() / 1000);
    const payload = { iss: this.issuer, iat: now, exp: now + 300, scope: "mcpstate:read mcpstate:write", ...claims };
    const known = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
    return await new SignJWT(known).setProtectedHeader({ alg: "RS256", kid, ...header }).sign(pair.privateKey);
  }

  #answer({ url }: Request): Response {
    const { pathname } = new URL(url);
    if (this.outage !== undefined) return new Response(null, { status: this.outage });
    if (pathname === `/.well-known/${this.documents}`) {
      return Response.json({ issuer: this.claims ?? this.issuer, jwks_uri: this.keysUrl.href });
    }
    if (pathname !== "/keys") return new Response(null, { status: 404 });
    this.asked++;
    return new Response(this.keys, { headers: { "content-type": "application/json" } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** An issuer with a key. */
export async function openIssuer(documents?: Issuer["documents"]): Promise<Issuer> {
  const issuer = new Issuer(documents);
  await issuer.rotate("first");
  return issuer;
}
