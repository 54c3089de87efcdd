/**
 * Addresses that lead back to the same machine.
 *
 * @module
 */

/** Whether an address is reached from the same machine only. IPv6 ones may stand in brackets, as in URLs. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|::1|(::ffff:)?127(\.\d{1,3}){3}|::ffff:7f[\da-f]{2}:[\da-f]{1,4})$/i
    .test(hostname.replace(/^\[(.*)\]$/, "$1"));
}
