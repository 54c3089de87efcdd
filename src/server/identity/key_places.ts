/**
 * Where an issuer and its keys may be.
 *
 * @module
 */

import { isLoopback } from "../http/loopback.ts";

/** Where keys are. */
export type KeysAt =
  | { readonly from: "issuer" }
  | { readonly from: "url"; readonly url: URL }
  | { readonly from: "file"; readonly path: string };

/** Whether nobody on the way can put something of their own in the place of what is at an address. */
export function isOutOfReach({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || protocol === "http:" && isLoopback(hostname);
}
