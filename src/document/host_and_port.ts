/**
 * Where something listens, as URLs, permissions and `Host` headers write it.
 *
 * @module
 */

/** A host with its port. An IPv6 address stands in brackets there, whether it is given with them or without. */
export function hostAndPort(hostname: string, port: number): string {
  return `${bracketed(hostname)}:${port}`;
}

/** A host as it stands in a URL. */
export function bracketed(hostname: string): string {
  return hostname.includes(":") && !hostname.startsWith("[") ? `[${hostname}]` : hostname;
}
