/**
 * What this program calls itself. A test holds the version to `deno.json`.
 *
 * @module
 */

/** The version of this package. */
export const VERSION = "0.1.0";
