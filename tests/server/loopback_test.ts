import { assertEquals } from "@std/assert";
import { HostGate } from "../../src/server/http/hosts.ts";
import { isLoopback } from "../../src/server/http/loopback.ts";
import { Refusal } from "../../src/server/http/refusal.ts";

Deno.test("isLoopback: every way in which this machine is written, and no name that only looks like one", () => {
  const mine = ["localhost", "LocalHost", "127.0.0.1", "127.8.9.10", "::1", "[::1]", "::ffff:127.0.0.1"];
  const shortened = new URL("http://[::ffff:127.0.0.1]/").hostname;
  for (const host of [...mine, shortened]) assertEquals(isLoopback(host), true, host);
  const others = ["127.0.0.1.evil.example", "localhost.evil.example", "0.0.0.0", "::", "::2", "[::1", "128.0.0.1", ""];
  for (const host of [...others, "::ffff:128.0.0.1", "::ffff:8000:1"]) assertEquals(isLoopback(host), false, host);
});

Deno.test("HostGate: hosts are taken as they are written in an option and in a header, all addresses at once are none", () => {
  const gate = new HostGate({ loopback: false, hosts: ["2001:DB8::7", "[2001:db8::8]", "0.0.0.0", "::"], origins: [] });
  const passes = (host: string) => {
    try {
      gate.checkHost(new Headers({ host }));
      return true;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  };
  const hosts = [
    "[2001:db8::7]:8000",
    "[2001:db8::8]",
    "[::1]:1",
    "localhost",
    "0.0.0.0:8000",
    "[::]:8000",
    "[2001:db8::9]",
  ];
  assertEquals(hosts.map(passes), [true, true, true, true, false, false, false]);
});
