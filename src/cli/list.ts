/**
 * `list`: a user's documents, newest first.
 *
 * @module
 */

import { checkKind } from "../document/checks.ts";
import type { HandleInfo } from "../document/snapshot.ts";
import type { Call } from "./call.ts";
import { userOf } from "./flags.ts";
import { openStore } from "./open_store.ts";
import { bytesText, jsonText, printable, timeText, tinted } from "./terminal.ts";
import { toWireInfo } from "./wire.ts";

/** Prints a page. */
export async function list(call: Call): Promise<number> {
  const user = await userOf(call);
  const kind = await call.checked("kind", checkKind);
  const [query, cursor] = [call.text("query"), call.text("cursor")];
  const limit = call.wholeNumber("limit", 1, 1000);
  const includeExpired = call.isSet("expired");
  await using store = await openStore(call);
  const page = await store.list(user, { kind, query, limit, cursor, includeExpired });
  if (call.isSet("json")) {
    const expired = page.expired.map(({ handle, kind, expiredAt, ttlDays }) => ({
      handle,
      kind,
      expired_at: expiredAt,
      ttl_days: ttlDays ?? null,
    }));
    console.log(
      jsonText({
        handles: page.handles.map(toWireInfo),
        ...includeExpired ? { expired } : {},
        next_cursor: page.cursor ?? null,
      }, 2),
    );
    return 0;
  }
  const { expired } = page;
  for (const info of page.handles) console.log(line(info));
  for (const { handle, expiredAt } of expired) {
    console.log(tinted("dim", `${printable(handle)}  expired ${timeText(expiredAt)}`));
  }
  if (page.handles.length + expired.length === 0) {
    console.error(`mcpstate: no documents of ${printable(user)} here${kind ?? query ? " that match" : ""}.`);
  }
  if (page.cursor !== undefined) console.error(`There are more: --cursor ${page.cursor}`);
  return 0;
}

function line({ handle, version, bytes, updatedAt, lastWriter, title, expiresAt }: HandleInfo): string {
  const when = `${timeText(updatedAt)} by ${printable(lastWriter)}`;
  const expiry = expiresAt === undefined ? "" : tinted("warning", `  expires ${timeText(expiresAt)}`);
  const name = title === undefined ? "" : `  ${printable(title)}`;
  return `${tinted("strong", printable(handle))}  version ${version}  ${bytesText(bytes)}  ${
    tinted("dim", when)
  }${name}${expiry}`;
}
