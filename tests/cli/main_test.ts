/**
 * The command line: what it understands, and how it says that it does not.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { COMMANDS } from "../../src/cli/commands.ts";
import { documentedFlags, emptyHome, environment, PROGRAM } from "../server/client.ts";
import { ServerProcess } from "../server/process.ts";
import { runProgram } from "./program.ts";

Deno.test("a command or flag that is not there is an error that says what was probably meant", async () => {
  await using home = emptyHome();
  const cases: readonly (readonly [args: readonly string[], said: string])[] = [
    [["serv"], "There is no command serv. Did you mean serve?"],
    [["permission"], "Did you mean permissions?"],
    [["frobnicate"], "There is no command frobnicate."],
    [["--usr", "alice"], "There is no flag --usr. Did you mean --user?"],
    [["serve", "--backnd=redis://:hunter2@host"], "There is no flag --backnd. Did you mean --backend?"],
    [["-x"], "There is no flag -x."],
    [["--user"], "--user needs a value."],
    [["serve", "extra"], "no flag"],
    [["--user", " "], "--user: user is blank"],
    [["--writer", "x".repeat(300)], "--writer: writer is longer than 256 bytes"],
    [["--max-state-bytes", "1MB"], "--max-state-bytes: a whole number of bytes"],
  ];
  for (const [args, said] of cases) {
    const { code, stdout, stderr } = await runProgram({ home: home.path, args });
    assertEquals([code, stdout], [2, ""], args.join(" "));
    assertStringIncludes(stderr, said);
    assert(!stderr.includes("hunter2"));
  }
});

Deno.test("a variable that is misspelt is named where the environment may be read, and its value is not", async () => {
  await using home = emptyHome();
  const env = { MCPSTATE_BAKEND: "redis://:hunter2@host", MCPSTATE_USER: "alice" };
  const { code, stderr } = await runProgram({ home: home.path, flags: ["--allow-env"], args: ["permissions"], env });
  assertEquals([code, stderr], [
    0,
    "mcpstate: the variable MCPSTATE_BAKEND is set, and means nothing here. Did you mean MCPSTATE_BACKEND?\n",
  ]);
});

Deno.test("help and version go to standard output", async () => {
  await using home = emptyHome();
  const read = async (args: readonly string[]) => {
    const { code, stdout, stderr } = await runProgram({ home: home.path, args });
    assertEquals([code, stderr], [0, ""], args.join(" "));
    return stdout;
  };
  for (const args of [["--help"], ["-h"], ["help"]]) {
    const text = await read(args);
    for (const name of Object.keys(COMMANDS)) assertStringIncludes(text, `\n  ${name} `);
    assertStringIncludes(text, "Exit codes: 0 done, 1 it failed, 2 the command line makes no sense.");
  }
  for (const [name, { flags, arguments: args, examples }] of Object.entries(COMMANDS)) {
    const text = await read([name, "--help"]);
    assertEquals(await read(["help", name]), text);
    for (const flag of Object.keys(flags)) assertStringIncludes(text, `\n  --${flag} `);
    for (const each of args) assertStringIncludes(text, each.name);
    assert(examples.length > 0);
    for (const { line } of examples) assertStringIncludes(text, `mcpstate ${line}`.trim());
  }
  assertStringIncludes(await read(["--user", "alice", "--help"]), "MCPSTATE_MAX_STATE_BYTES");
  const { version } = JSON.parse(Deno.readTextFileSync(new URL("../../deno.json", import.meta.url)));
  assertEquals((await runProgram({ home: home.path, args: ["--version"] })).stdout, `${version}\n`);
});

Deno.test("flags win over variables, and a variable that makes no sense is named", async () => {
  await using home = emptyHome();
  const env = { MCPSTATE_USER: "alice", MCPSTATE_WRITER: "phone", MCPSTATE_MAX_STATE_BYTES: "40" };
  const lastWriter = async (args: readonly string[], handle?: string) => {
    await using server = new ServerProcess({ home: home.path, env, args });
    await server.initialize();
    const minted = handle === undefined ? await server.call(1, "state_save", { kind: "cart", state: {} }) : { handle };
    const large = { kind: "cart", state: { text: "x".repeat(40) } };
    assertEquals((await server.call(2, "state_save", large)).ok, args.length > 0);
    return { ...await server.call(3, "state_load", { handle: minted.handle }), handle: String(minted.handle) };
  };
  const ofAlice = await lastWriter([]);
  assertEquals((ofAlice as Record<string, unknown>).last_writer, "phone");
  const ofBob = await lastWriter(["--user", "bob", "--writer", "laptop", "--max-state-bytes", "1000"]);
  assertEquals((ofBob as Record<string, unknown>).last_writer, "laptop");
  const asBob = await lastWriter(["--user", "bob", "--max-state-bytes", "1000"], ofAlice.handle);
  assertEquals((asBob as Record<string, unknown>).ok, false);

  const flags = documentedFlags(home.path);
  const refused = await runProgram({ home: home.path, flags, env: { MCPSTATE_MAX_STATE_BYTES: "lots" } });
  assertEquals(refused.code, 2);
  assertStringIncludes(refused.stderr, "MCPSTATE_MAX_STATE_BYTES: a whole number of bytes");
});

Deno.test("the host's name is the writer where it may be asked for", async () => {
  await using home = emptyHome();
  await using server = new ServerProcess({
    home: home.path,
    flags: [...documentedFlags(home.path), "--allow-sys=hostname"],
  });
  await server.initialize();
  const { handle } = await server.call(1, "state_save", { kind: "cart", state: {} });
  assertEquals((await server.call(2, "state_load", { handle })).last_writer, Deno.hostname());
});

Deno.test("backend URLs that make no sense are refused, and no password is shown", async () => {
  await using home = emptyHome();
  const flags = documentedFlags(home.path);
  for (
    const backend of [
      "sqlite:///",
      "sqlite://",
      "sqlite://state.db",
      "sqlite:////var/lib/",
      "sqlite:///a%zz.db",
      "sqlite:///~/.mcpstate/state.db?password=hunter2",
      "sqlite:///~/.mcpstate/state.db?synchronous=hunter2",
      "postgres://alice:hunter2@host/db",
      "postgres://alice:p@ss/hunter2@host/db",
      "mysql://host/db?password=hunter2",
      "hunter2",
    ]
  ) {
    for (const args of [["--backend", backend], ["permissions", "--backend", backend]]) {
      const { code, stdout, stderr } = await runProgram({ home: home.path, flags, args });
      assert(!(stdout + stderr).includes("hunter2"), stdout + stderr);
      if (args.length === 2) assertEquals([code, stdout], [1, ""], backend);
    }
    const { stdout, stderr } = await runProgram({ home: home.path, args: ["--backend", backend] });
    assert(!(stdout + stderr).includes("hunter2"), stdout + stderr);
  }
  assertEquals([...Deno.readDirSync(home.path)], []);
});

Deno.test("credentials that make sense are shown neither", async () => {
  await using home = emptyHome();
  const backend = "rediss://alice:hunter2@redis.example:6380/0?cluster=true";
  for (const command of [[], ["permissions"]]) {
    const { stdout, stderr } = await runProgram({ home: home.path, args: [...command, "--backend", backend] });
    assertStringIncludes(stdout + stderr, " --allow-net=redis.example:6380 ");
    assertStringIncludes(stdout + stderr, "MCPSTATE_BACKEND");
    assert(!(stdout + stderr).includes("hunter2") && !(stdout + stderr).includes("alice"));
  }
});

Deno.test("a file that is no database is an error on standard error, and stays as it is", async () => {
  await using home = emptyHome();
  Deno.mkdirSync(`${home.path}/.mcpstate`);
  const text = "This is a diary, not a database. ".repeat(100);
  Deno.writeTextFileSync(`${home.path}/.mcpstate/state.db`, text);
  const { code, stdout, stderr } = await runProgram({ home: home.path, flags: documentedFlags(home.path) });
  assertEquals([code, stdout], [1, ""]);
  assert(stderr.startsWith("mcpstate: "), stderr);
  assertEquals(Deno.readTextFileSync(`${home.path}/.mcpstate/state.db`), text);
});

Deno.test("someone who starts it by hand is told what is served and what to paste", async () => {
  await using home = emptyHome();
  const line = ["run", ...documentedFlags(home.path), PROGRAM].map((word) => `'${word}'`).join(" ");
  const { stdout } = await new Deno.Command("script", {
    args: ["-qec", `'${Deno.execPath()}' ${line}`, "/dev/null"],
    env: environment(home.path),
    clearEnv: true,
    stdin: "null",
  }).output();
  const said = new TextDecoder().decode(stdout).replaceAll("\r\n", "\n");
  assertStringIncludes(said, 'for the user "local"');
  assertStringIncludes(said, `state in ${home.path}/.mcpstate`);
  const configuration = said.slice(said.indexOf("\n{") + 1, said.indexOf("\n}") + 2);
  const { command, args } = JSON.parse(configuration).mcpServers.mcpstate;
  assertEquals([command, args], ["deno", ["run", ...documentedFlags(home.path), PROGRAM]]);
});

Deno.test("the library loads no server: its static imports reach no npm package", async () => {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json", "--no-lock", PROGRAM] })
    .output();
  interface Module {
    readonly specifier: string;
    readonly dependencies?: readonly { readonly isDynamic?: boolean; readonly code?: { readonly specifier: string } }[];
  }
  const { modules, roots }: { modules: readonly Module[]; roots: readonly string[] } = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  const bySpecifier = new Map(modules.map((module) => [module.specifier, module]));
  const reached = new Set<string>();
  const visit = (specifier: string) => {
    if (reached.has(specifier)) return;
    reached.add(specifier);
    for (const { isDynamic, code } of bySpecifier.get(specifier)?.dependencies ?? []) {
      if (!isDynamic && code !== undefined) visit(code.specifier);
    }
  };
  roots.forEach(visit);
  assert(reached.size > 20);
  assertEquals([...reached].filter((specifier) => /^(npm:|jsr:|http)|\/src\/(server|cli|main)/.test(specifier)), []);
});
