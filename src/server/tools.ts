/**
 * The tools, in the order in which clients list them.
 *
 * @module
 */

import type { Tool } from "./tool.ts";
import { inspect } from "./tools/inspect.ts";
import { remove, touch } from "./tools/lifetime.ts";
import { changes, list, load } from "./tools/reads.ts";
import { patch, restore, save } from "./tools/writes.ts";

/** Every tool of the server. */
export const TOOLS: readonly Tool[] = [save, load, list, patch, touch, remove, changes, restore, inspect];
