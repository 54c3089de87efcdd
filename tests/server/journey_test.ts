/**
 * The whole journey of a document, by real clients of both protocol eras, over stdio and HTTP.
 *
 * @module
 */

import { type Connection, connectLegacy, connectModern, emptyHome, type Start } from "./client.ts";
import { CLIENTS, type ConnectHttp } from "./http_client.ts";
import { openSite } from "./http_site.ts";
import { journey } from "./journey.ts";

async function overStdio(connect: (start: Start) => Promise<Connection>, defaultWriter: string): Promise<void> {
  await using home = emptyHome();
  await using laptop = await connect({ home: home.path });
  await using phone = await connect({ home: home.path, args: ["--writer", "phone"] });
  await journey(laptop, phone, defaultWriter);
}

async function overHttp(connect: ConnectHttp): Promise<void> {
  await using site = await openSite();
  await using laptop = await connect(await site.caller("alice", { writer: "laptop" }));
  await using phone = await connect(await site.caller("alice", { writer: "phone" }));
  await journey(laptop, phone, "laptop");
}

Deno.test("a document's journey with the 1.x client", () => overStdio(connectLegacy, "legacy-laptop"));

Deno.test("a document's journey with the 2.x client at 2026-07-28", () => overStdio(connectModern, "modern-phone"));

for (const [name, connect] of Object.entries(CLIENTS)) {
  Deno.test(`a document's journey over HTTP with ${name}`, () => overHttp(connect));
}
