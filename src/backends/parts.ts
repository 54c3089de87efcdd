/**
 * Cuts what is too much for one step into parts that each are not.
 *
 * @module
 */

/** How much a part may hold: of a size, and of items. One item that is larger has a part of its own. */
export interface PartLimits {
  readonly size: number;
  readonly items: number;
}

/** The items in order, in parts; at least one, which may be empty. */
export function inParts<T>(items: Iterable<T>, sizeOf: (item: T) => number, most: PartLimits): T[][] {
  const parts: T[][] = [[]];
  let size = 0;
  for (const item of items) {
    const own = sizeOf(item);
    let part = parts[parts.length - 1];
    if (part.length > 0 && (size + own > most.size || part.length === most.items)) {
      parts.push(part = []);
      size = 0;
    }
    part.push(item);
    size += own;
  }
  return parts;
}
