/**
 * Addresses that lead back to the same machine.
 *
 * @module
 */

/** Whether an address is reached from the same machine only. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "::1" || hostname === "[::1]" ||
    /^(::ffff:)?127(\.\d{1,3}){3}$/.test(hostname);
}
