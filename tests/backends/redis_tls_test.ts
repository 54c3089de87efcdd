import { assertEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import { openRedisBackend } from "../../src/backends/redis.ts";
import { BackendError } from "../../src/document/errors.ts";
import { AARHUS, find, mint, TRIP, until, write } from "../contract/drafts.ts";
import { startRedis } from "../redis_server.ts";

const quiet = { onWarning: () => {}, deadlineMs: 5_000 };

/** A CA, and the certificate of a server on loopback that it has signed, as files of a directory. */
async function makeCertificates(directory: string, name: string): Promise<void> {
  const openssl = async (...args: string[]) => {
    const { success, stderr } = await new Deno.Command("openssl", { args, cwd: directory, stdin: "null" }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
  };
  const fresh = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const days = ["-days", "2"];
  await openssl(
    "req",
    "-x509",
    ...fresh,
    ...days,
    "-subj",
    `/CN=CA of ${name}`,
    "-keyout",
    `${name}-ca.key`,
    "-out",
    `${name}-ca.pem`,
  );
  await openssl("req", ...fresh, "-subj", `/CN=${name}`, "-keyout", `${name}.key`, "-out", `${name}.csr`);
  await Deno.writeTextFile(join(directory, "names"), "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
  const signed = ["-CA", `${name}-ca.pem`, "-CAkey", `${name}-ca.key`, "-CAcreateserial", "-extfile", "names"];
  await openssl("x509", "-req", "-in", `${name}.csr`, ...signed, ...days, "-out", `${name}.pem`);
}

Deno.test("openRedisBackend: over TLS trusts the CA that it is told, writes, and hears of writes", async () => {
  const directory = await Deno.makeTempDir();
  await makeCertificates(directory, "redis");
  await makeCertificates(directory, "stranger");
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const file = (name: string) => join(directory, name);
  await using _server = await startRedis(
    ...["--tls-port", String(port), "--tls-auth-clients", "no", "--tls-ca-cert-file", file("redis-ca.pem")],
    ...["--tls-cert-file", file("redis.pem"), "--tls-key-file", file("redis.key")],
  );
  const url = `rediss://127.0.0.1:${port}`;
  {
    await using backend = await openRedisBackend({ url: `${url}/?ca=${file("redis-ca.pem")}`, ...quiet });
    const caCert = await Deno.readTextFile(file("redis-ca.pem"));
    await using other = await openRedisBackend({ url, caCert, ...quiet });
    let calls = 0;
    await using _subscription = await other.subscribe(TRIP.user, () => calls++);
    const before = calls;
    await write(backend, TRIP, await mint(backend, TRIP), [AARHUS]);
    await until(() => calls > before, "the write is told");
    assertEquals((await find(other, TRIP)).entries.map(({ version }) => version), [1, 2]);
  }
  const wrong = [`${url}/?ca=${file("stranger-ca.pem")}`, url];
  for (const each of wrong) {
    const opening = () => openRedisBackend({ url: each, ...quiet, deadlineMs: 5_000 });
    await assertRejects(opening, BackendError, "certificate of Redis is not trusted");
  }
  await Deno.remove(directory, { recursive: true });
});
