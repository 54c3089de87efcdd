/**
 * How a caller is told to identify itself, or that its token allows too little (RFC 6750, RFC 9728).
 *
 * @module
 */

import { getOAuthProtectedResourceMetadataUrl, type RequestId } from "@modelcontextprotocol/server";
import { RateLimited } from "../../document/errors.ts";
import { IdentityMissing, IdentityRefused, IdentityUnavailable } from "../identity/identity.ts";
import { type Scope, SCOPES } from "../scopes.ts";
import { Refusal } from "./refusal.ts";
import { limited } from "./within_limits.ts";

/** What is protected, and who lets in. */
export interface Resource {
  /** The address of the MCP endpoint as clients know it. */
  readonly url: URL;
  /** Who issues the tokens, if it is not the operator. */
  readonly issuer?: string;
}

/** The path of the metadata document (RFC 9728, section 3.1). */
export function metadataPath({ url }: Resource): string {
  return new URL(getOAuthProtectedResourceMetadataUrl(url)).pathname;
}

/** Tells where tokens come from (RFC 9728, section 2). Anyone may know. */
export function resourceMetadata({ url, issuer }: Resource): Response {
  const document = {
    resource: url.href,
    ...(issuer === undefined ? {} : { authorization_servers: [issuer] }),
    scopes_supported: SCOPES,
    bearer_methods_supported: ["header"],
    resource_name: "mcpstate",
  };
  return Response.json(document, { headers: { "access-control-allow-origin": "*", "cache-control": "max-age=3600" } });
}

/** The answer to a caller that is not known, or cannot be just now. Another error is thrown on. */
export function toIdentityRefusal(error: unknown, resource: Resource): Refusal {
  if (error instanceof IdentityRefused) {
    // RFC 6750, section 3.1: nothing is wrong with a token that is not there.
    const code = error instanceof IdentityMissing ? undefined : "invalid_token";
    return new Refusal(401, error.message, { headers: challenge(resource, code, SCOPES) });
  }
  if (error instanceof IdentityUnavailable) {
    return new Refusal(503, error.message, { headers: { "retry-after": "5" } });
  }
  if (error instanceof RateLimited) return limited(error);
  throw error;
}

/** The answer to a caller whose token does not allow it. */
export function insufficientScope(scope: Scope, resource: Resource, id: RequestId | undefined): Refusal {
  const headers = challenge(resource, "insufficient_scope", [scope]);
  return new Refusal(403, `The token needs the scope ${scope}.`, { headers }, id);
}

function challenge(resource: Resource, error: string | undefined, scopes: readonly Scope[]): Record<string, string> {
  const metadata = getOAuthProtectedResourceMetadataUrl(resource.url);
  const said = error === undefined ? "" : `error="${error}", `;
  return { "www-authenticate": `Bearer ${said}scope="${scopes.join(" ")}", resource_metadata="${metadata}"` };
}
