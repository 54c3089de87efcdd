/**
 * The official conformance suite against our real HTTP shell, in both protocol eras.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { localUser } from "../../src/server/identity/local_user.ts";
import { createServer } from "../../src/server/server.ts";
import { openSite } from "../server/http_site.ts";
import { EXPECTED, OWN } from "./expected.ts";
import { addFixtures } from "./fixtures.ts";

const SUITE = "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12";
/** A scenario in the summary of a run. */
const SCENARIO = /^([✓✗]) ([\w-]+): \d+ passed, \d+ failed/gmu;

interface Run {
  readonly code: number;
  readonly output: string;
}

/** What a run came to, scenario by scenario. One that is scored and fails unexpectedly ends the run with another code. */
function countScenarios(output: string, revision: keyof typeof EXPECTED) {
  const expected = new Set(Object.keys(EXPECTED[revision]).map((name) => name.split(":")[0]));
  const others = [...output.matchAll(SCENARIO)].filter(([, , name]) => !expected.has(name));
  const passed = others.filter(([, mark]) => mark === "✓").length;
  return { passed, missed: expected.size, unscored: others.length - passed };
}

async function runSuite(url: URL, args: readonly string[]): Promise<Run> {
  const folder = await Deno.makeTempDir({ prefix: "mcpstate-conformance-" });
  try {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-q", "-A", "--no-check", "--no-lock", SUITE, "server", "--url", url.href, "-o", folder, ...args],
      cwd: folder,
      env: { NO_COLOR: "1" },
    }).output();
    return { code, output: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A file that excuses just what is expected, with the reasons. */
async function writeExpected(revision: keyof typeof EXPECTED): Promise<string> {
  const lines = Object.entries(EXPECTED[revision]).map(([name, reason]) => `  - ${name} # ${reason}`);
  const path = await Deno.makeTempFile({ prefix: "mcpstate-expected-", suffix: ".yml" });
  await Deno.writeTextFile(path, `server:\n${lines.join("\n")}\n`);
  return path;
}

for (const revision of ["2026-07-28", "2025-11-25"] as const) {
  Deno.test(`conformance: everything that ${revision} requires, but for what is expected, with fixtures`, async () => {
    await using site = await openSite({
      identity: localUser("alice"),
      createServer: ({ user }) => {
        const server = createServer(site.store, { user });
        addFixtures(server);
        return server;
      },
    });
    const expected = await writeExpected(revision);
    const args = ["--requirements", revision, "--expected-failures", expected];
    const { code, output } = await runSuite(site.url, args);
    await Deno.remove(expected);
    assertEquals(code, 0, output);
    const { passed, missed, unscored } = countScenarios(output, revision);
    console.log(`${revision}: ${passed} scenarios passed, ${missed} do not apply, ${unscored} unscored ones failed`);
    assert(passed > 20, output);
  });
}

for (const scenario of OWN) {
  Deno.test(`conformance: ${scenario}, with our own server as it is`, async () => {
    await using site = await openSite({ identity: localUser("alice") });
    await site.store.mint("trip", { city: "Aarhus" }, { user: "alice", title: "Aarhus" });
    const { code, output } = await runSuite(site.url, ["--scenario", scenario, "--spec-version", "2026-07-28"]);
    assertEquals(code, 0, output);
    assert(/passed/i.test(output), output);
  });
}
