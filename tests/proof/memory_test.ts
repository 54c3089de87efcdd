import { backendContract } from "../contract/backend.ts";
import { MemoryServer } from "./memory.ts";

backendContract("memory", () => {
  const server = new MemoryServer();
  return Promise.resolve({
    open: () => Promise.resolve(server.connect()),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
});
