/**
 * Hostile input: what JSON can hold that programs stumble over, what it cannot hold, and valid input with such a thing in it.
 *
 * @module
 */

import fc from "fast-check";

/** Keys that mean something to JavaScript, to paths, or to nobody. */
const KEYS = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "then",
  "toJSON",
  "length",
  "",
  " ",
  "0",
  "-0",
  "-1",
  "01",
  "1e3",
  "4294967296",
  "a.b",
  "/",
  "~",
  "~2",
  "a/b~c",
  "-",
  "\0",
  "\u2028",
  "\ud800",
  "é".normalize("NFD"),
  "\u{1f9ff}",
] as const;

/** Numbers at the edges of what a double can say. */
const NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.1,
  2 ** 31,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53) - 2,
  1e21,
  -1e21,
  1e308,
  5e-324,
  8.64e15 + 1,
] as const;

const TEXTS = [
  ...KEYS,
  "\udc00\ud800",
  "a\ud83d",
  "../../etc/passwd",
  "data:text/html,x",
  "'; DROP TABLE mcpstate_document; --",
  "%00%ff%zz",
  "${7*7}",
  "null",
  "NaN",
  "1e400",
  "-0",
  "[1",
  "\r\n\r\nHTTP/1.1 200 OK",
  "x".repeat(70_000),
  "/".repeat(5_000),
  "~".repeat(5_000),
  "a.".repeat(5_000),
  "🧿".repeat(3_000),
  "(a|aa)+$",
  "((((((((((a*)*)*)*)*)*)*)*)*)*)*c",
] as const;

const text = fc.oneof(
  fc.constantFrom<string>(...TEXTS),
  fc.string({ maxLength: 20, unit: "binary" }),
  fc.string({ maxLength: 8 }),
);
const key = fc.oneof(fc.constantFrom<string>(...KEYS), fc.string({ maxLength: 6, unit: "binary" }));
const number = fc.oneof(fc.constantFrom<number>(...NUMBERS), fc.double({ noNaN: true, noDefaultInfinity: true }));

/** Containers in containers, as made by whoever counts brackets. */
function nested(depth: number, isArray: boolean): unknown {
  let value: unknown = isArray ? [] : {};
  for (let i = 1; i < depth; i++) value = isArray ? [value] : { a: value };
  return value;
}

const depths = fc.tuple(fc.constantFrom(99, 100, 101, 102, 500, 1_000), fc.boolean()).map(([depth, isArray]) =>
  nested(depth, isArray)
);

/** Own keys, also one that is named `__proto__`, as JSON.parse makes it. */
function toObject(pairs: readonly (readonly [string, unknown])[]): object {
  const object = {};
  for (const [name, value] of pairs) {
    Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return object;
}

/** What JSON can hold. */
export const hostileJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: text },
  { weight: 3, arbitrary: number },
  { weight: 2, arbitrary: fc.constantFrom(null, true, false, [], {}) },
  { weight: 1, arbitrary: depths },
  {
    weight: 3,
    arbitrary: fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        fc.oneof(text, number, fc.constantFrom(null, true)),
        fc.array(tie("node"), { maxLength: 3 }),
        fc.array(fc.tuple(key, tie("node")), { maxLength: 3 }).map(toObject),
      ),
    })).node,
  },
);

class Cart {
  items = ["tea"];
}

/** What only a caller within the process can pass. */
const OUTLANDISH: readonly (() => unknown)[] = [
  () => undefined,
  () => NaN,
  () => Infinity,
  () => 10n ** 30n,
  () => Symbol("s"),
  () => () => {},
  () => new Date(NaN),
  () => new Date(),
  () => new Map([["a", 1]]),
  () => new Set([1]),
  () => new Uint8Array(4),
  () => new Cart(),
  () => Promise.resolve(1),
  () => /x/g,
  () => new Proxy({}, {}),
  () => Object.create({ inherited: 1 }),
  () => Object.create(null),
  () => Object.assign([], { extra: 1 }),
  () => new Array(3),
  () => ({ toJSON: () => "something else" }),
  () => ({ [Symbol.toPrimitive]: () => 7 }),
  () => new String("boxed"),
  () => new Number(7),
  () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    return cycle;
  },
  () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    return cycle;
  },
];
const outlandish = fc.constantFrom(...OUTLANDISH).map((make) => make());

/** What anybody can pass to a function. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: hostileJson },
  { weight: 2, arbitrary: outlandish },
  { weight: 1, arbitrary: outlandish.map((value) => ({ a: [value] })) },
);

/** Texts alone. */
export const hostileText: fc.Arbitrary<string> = text;

/** Valid input with a hostile thing in the place of some part of it, beside it, or with a part missing. */
export function spoilt(
  valid: fc.Arbitrary<unknown>,
  by: fc.Arbitrary<unknown> = hostileJson,
): fc.Arbitrary<unknown> {
  return fc.tuple(valid, by, key, fc.nat(), fc.constantFrom("replace", "replace", "add", "remove")).map(
    ([value, bad, name, pick, how]) => {
      const copy = structuredClone(value);
      const places = placesOf(copy);
      const place = places[pick % (places.length + 1)];
      if (place === undefined) return how === "replace" ? bad : copy;
      const { parent, name: own } = place;
      if (how === "replace") define(parent, own, bad);
      else if (how === "add") define(parent, Array.isArray(parent) ? parent.length : name, bad);
      else if (Array.isArray(parent)) parent.splice(Number(own), 1);
      else Reflect.deleteProperty(parent, own);
      return copy;
    },
  );
}

function define(parent: object, name: string | number, value: unknown): void {
  Object.defineProperty(parent, name, { value, enumerable: true, writable: true, configurable: true });
}

interface Place {
  readonly parent: object;
  readonly name: string;
}

function placesOf(value: unknown): Place[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) => [{ parent: value, name }, ...placesOf(child)]);
}
