/** Fills a redis-server from commands as RESP has them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Through redis-cli: its replies are counted by it, and a fault of one command is a fault of the benchmark. */
export const load = async (port: number, pieces: Iterable<string>): Promise<void> => {
  const child = spawn("redis-cli", ["-p", String(port), "--pipe"], { stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += chunk;
  });
  const ended = once(child, "close");
  await pipeline(Readable.from(pieces), child.stdin);
  await ended;
  if (!said.includes("errors: 0,")) throw new Error(`redis-cli --pipe: ${said}`);
};
