import { assertEquals } from "@std/assert";
import { bracketed, hostAndPort } from "../../src/document/host_and_port.ts";

Deno.test("hostAndPort: an IPv6 address stands in brackets, with or without which it is given", () => {
  const hosts = ["127.0.0.1", "localhost", "::1", "[::1]", "2001:db8::7"];
  assertEquals(hosts.map((host) => hostAndPort(host, 8000)), [
    "127.0.0.1:8000",
    "localhost:8000",
    "[::1]:8000",
    "[::1]:8000",
    "[2001:db8::7]:8000",
  ]);
  assertEquals(hosts.map(bracketed), ["127.0.0.1", "localhost", "[::1]", "[::1]", "[2001:db8::7]"]);
});
