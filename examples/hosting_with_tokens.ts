/**
 * A server for a team: Alice has a phone and a laptop, Bob has a laptop, and each device has a token of its own. The server
 * and the commands beside it run under the permissions that they print and under nothing more.
 *
 * ```sh
 * deno run --allow-net=127.0.0.1 --allow-run=deno --allow-read=. --allow-write=. examples/hosting_with_tokens.ts
 * ```
 *
 * @module
 */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const program = new URL("../mod.ts", import.meta.url).href;
const config = new URL("../deno.json", import.meta.url).pathname;
const directory = await Deno.makeTempDir({ dir: ".", prefix: "team-" });
const backend = ["--backend", `sqlite:///${await Deno.realPath(directory)}/state.db`];

/** The flags that a command needs, as `permissions` prints them. */
async function flagsOf(command: readonly string[]): Promise<readonly string[]> {
  const line = await run([], ["permissions", ...command]);
  return line.split("\n")[1].split(" ").filter((word) => word.startsWith("--allow-"));
}

/** Runs a command of mcpstate under some flags and answers what it printed. */
async function run(flags: readonly string[], command: readonly string[]): Promise<string> {
  const args = ["run", "--quiet", "--no-prompt", "--config", config, ...flags, program, ...command, ...backend];
  const { success, stdout } = await new Deno.Command("deno", { args, stdout: "piped", stderr: "inherit" }).output();
  if (!success) throw new Error(`mcpstate ${command.join(" ")} failed`);
  return new TextDecoder().decode(stdout).trim();
}

/** A token for one device: it says who is asking, and who wrote. */
async function addToken(user: string, writer: string): Promise<{ readonly id: string; readonly token: string }> {
  const command = ["token", "add", "--user", user, "--writer", writer, "--json"];
  return JSON.parse(await run(await flagsOf(command), command));
}

/** Starts the server on a free port, and answers once it says where. */
async function serve(): Promise<{ readonly server: Deno.ChildProcess; readonly url: URL }> {
  const command = ["serve", "--transport", "http", "--port", "0"];
  const flags = await flagsOf(command);
  const args = ["run", "--quiet", "--no-prompt", "--config", config, ...flags, program, ...command, ...backend];
  const server = new Deno.Command("deno", { args, stdin: "null", stdout: "null", stderr: "piped" }).spawn();
  const lines = server.stderr.pipeThrough(new TextDecoderStream());
  let log = "";
  for await (const part of lines.values({ preventCancel: true })) {
    log += part;
    const [, url] = /"event":"listening","url":"([^"]+)"/.exec(log) ?? [];
    if (url === undefined) continue;
    lines.pipeTo(new WritableStream()).catch(() => {}); // its log goes on, and nobody reads it here
    return { server, url: new URL(url) };
  }
  throw new Error(`the server did not start: ${log}`);
}

/** An MCP client as a device has one. */
async function connect(url: URL, token: string): Promise<Client> {
  const client = new Client({ name: "device", version: "1.0.0" }, {
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return client;
}

/** What a tool answers, refusals included. */
async function call(client: Client, name: string, args: Record<string, unknown>) {
  const { content: [answer] } = await client.callTool({ name, arguments: args });
  return JSON.parse(answer.type === "text" ? answer.text : "{}");
}

const { server, url } = await serve();
try {
  const [phoneToken, laptopToken, bobToken] = [
    await addToken("alice", "phone"),
    await addToken("alice", "laptop"),
    await addToken("bob", "laptop"),
  ];
  const phone = await connect(url, phoneToken.token);
  const laptop = await connect(url, laptopToken.token);
  const bob = await connect(url, bobToken.token);

  const { handle } = await call(phone, "state_save", { kind: "packing", title: "Aarhus", state: { items: ["tent"] } });
  await call(laptop, "state_patch", { handle, ops: [{ op: "append", path: "/items", value: "map" }] });
  const { state, last_writer } = await call(phone, "state_load", { handle });
  console.log(`Alice's phone reads ${state.items.join(" and ")}; the last to write was her ${last_writer}.`);

  const { handles } = await call(bob, "state_list", {});
  const { error } = await call(bob, "state_load", { handle });
  console.log(`Bob's list has ${handles.length} handles, and her handle gives him ${error.code}.`);

  await run(await flagsOf(["token", "revoke", phoneToken.id]), ["token", "revoke", phoneToken.id]);
  const refused = await refusal(phone);
  console.log(`The phone is lost and its token revoked: ${refused}.`);
  console.log(`The laptop still reads version ${(await call(laptop, "state_load", { handle })).version}.`);
  await Promise.all([phone, laptop, bob].map((client) => client.close()));
} finally {
  server.kill("SIGTERM"); // it finishes what is under way
  await server.status;
  await Deno.remove(directory, { recursive: true });
}

/** What a device is told once its token has ended. A server may go on trusting a token that it has just seen for five seconds. */
async function refusal(client: Client): Promise<string> {
  for (;;) {
    try {
      await client.callTool({ name: "state_list", arguments: {} });
      await new Promise((resolve) => setTimeout(resolve, 200));
    } catch (error) {
      return `HTTP ${Object(error).status}`;
    }
  }
}
