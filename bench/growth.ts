/**
 * How the cost of an operation grows: with the size of a document, the length of its history, and the number of documents.
 *
 * @module
 */

import { append, type HandleStore, setKey } from "../mod.ts";
import { type Engine, openStore } from "./engines.ts";
import { compare } from "./side_by_side.ts";
import { text } from "./texts.ts";

/** One operation of one engine over a quantity that grows; microseconds, medians. */
export interface Growth {
  readonly engine: Engine["name"];
  readonly operation: string;
  readonly points: readonly { readonly x: number; readonly ours: number; readonly raw: number }[];
}

const user = "alice";
const KIB = 1024;
const RUNS = 200;

class Curves {
  readonly #curves = new Map<string, { x: number; ours: number; raw: number }[]>();

  constructor(readonly engine: Engine) {}

  async time(operation: string, x: number, ours: (i: number) => unknown, raw: () => unknown, runs = RUNS) {
    const { ours: own, raw: bare } = await compare(operation, { run: ours }, { run: raw }, { runs });
    const points = this.#curves.get(operation)?.filter((point) => point.x !== x) ?? []; // what was measured first was cold
    this.#curves.set(operation, [...points, { x, ours: own.median, raw: bare.median }]);
  }

  all(): Growth[] {
    return [...this.#curves].map(([operation, points]) => ({ engine: this.engine.name, operation, points }));
  }
}

/** Over documents of 1 KB to 1 MB. */
export async function bySize(engine: Engine): Promise<Growth[]> {
  const curves = new Curves(engine);
  await using store = await openStore(engine);
  const item = text(100);
  const added = JSON.stringify([{ op: "add", path: "/log/-", value: item }]);
  for (const x of [1, 1, 10, 100, 1000].map((each) => each * KIB)) {
    const note = text(x - 40);
    const handle = await store.mint("bench", { note, turn: 0, log: [] }, { user });
    await curves.time("get, warm", x, () => store.get(handle, { user }), () => engine.raw.head());
    const list = await store.mint("bench", { note, log: [] }, { user });
    const push = () => store.patch(list, [append("log", item)], { user });
    await curves.time("append of 100 bytes", x, push, () => engine.raw.write(added));
    let version = 1;
    await curves.time("save, one field changed", x, async (i) => {
      ({ version } = await store.save(handle, { note, turn: i + 1, log: [] }, { user, expectVersion: version }));
    }, () => engine.raw.write(JSON.stringify([{ op: "replace", path: "/turn", value: 12 }])));
    await curves.time("list of 20", x, () => store.list(user, { limit: 20 }), () => engine.raw.head());
  }
  return curves.all();
}

/** Over histories of 10 to 10,000 versions of a document of 1 KB. */
export async function byHistory(engine: Engine): Promise<Growth[]> {
  const curves = new Curves(engine);
  await using store = await openStore(engine);
  await using cold = await openStore(engine, 0);
  const handle = await store.mint("bench", { note: text(KIB), count: 0 }, { user });
  const body = JSON.stringify([{ op: "replace", path: "/count", value: 1234 }]);
  const write = (i: number) => store.patch(handle, [setKey("", "count", i)], { user });
  for (const x of [10, 100, 1_000, 10_000]) {
    for (let { version } = await store.get(handle, { user }); version < x;) ({ version } = await write(version));
    await curves.time("get, warm", x, () => store.get(handle, { user }), () => engine.raw.head());
    await curves.time("get, cold", x, () => cold.get(handle, { user }), () => engine.raw.head());
    const asOf = (i: number) => cold.get(handle, { user, version: 1 + i * 7_919 % x });
    await curves.time("get as of a version, cold", x, asOf, () => engine.raw.head());
    if (x < 10_000) await curves.time("patch", x, write, () => engine.raw.write(body), x / 10);
    else await curves.time("patch", x, write, () => engine.raw.write(body));
  }
  return curves.all();
}

/** Over 10 to 10,000 documents of 1 KB of one user. */
export async function byDocuments(engine: Engine): Promise<Growth[]> {
  const curves = new Curves(engine);
  await using store = await openStore(engine);
  await using cold = await openStore(engine, 0);
  const handles: string[] = [];
  const body = JSON.stringify([{ op: "replace", path: "/count", value: 1234 }]);
  for (const x of [10, 100, 1_000, 10_000]) {
    while (handles.length < x) handles.push(...await mintSome(store, Math.min(100, x - handles.length)));
    const any = (i: number) => handles[i * 7_919 % x];
    await curves.time("get, cold", x, (i) => cold.get(any(i), { user }), () => engine.raw.head());
    const write = (i: number) => store.patch(any(i), [setKey("", "count", i)], { user });
    await curves.time("patch", x, write, () => engine.raw.write(body));
    await curves.time("list of 20", x, () => store.list(user, { limit: 20 }), () => engine.raw.head());
  }
  return curves.all();
}

function mintSome(store: HandleStore, count: number): Promise<string[]> {
  const state = { note: text(KIB), count: 0 };
  return Promise.all(Array.from({ length: count }, () => store.mint("bench", state, { user })));
}
