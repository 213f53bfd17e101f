/** A GTM process on Redis that has served many conversations, and what it takes of the machine's memory. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { Pool, request } from "undici";
import { SIMULATED_ALIAS } from "#test/support/engine-simulators.ts";
import { freePort } from "#test/support/free-port.ts";
import { houseYaml } from "#test/support/house.ts";

export type GtmMemory = {
  /** Once it serves and knows no conversation. */
  readonly startedMegabytes: number;
  readonly cachedMegabytes: number;
};

const CONNECTIONS = 32;

/** @param count conversations of one turn each, all of which the cache holds */
export const measureGtm = async (redisUrl: string, count: number): Promise<GtmMemory> => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-memory-"));
  const path = join(folder, "gtm.yaml");
  const [http, metrics] = [await freePort(), await freePort()];
  const house = JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } }));
  writeFileSync(
    path,
    JSON.stringify({
      ...house,
      store: { url: redisUrl },
      http: { ...house.http, listen: `127.0.0.1:${http}` },
      metrics: { listen: `127.0.0.1:${metrics}` },
    }),
  );
  const child = spawn(process.execPath, ["gtm/main.ts", "serve", "--config", path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const started = Promise.withResolvers<void>();
    let last = "";
    // Read to the end: the log of a GTM that ends says why.
    createInterface({ input: child.stdout }).on("line", (line) => {
      last = line;
      if (line.includes('"process.started"')) started.resolve();
    });
    child.once("exit", (code, signal) => started.reject(new Error(`the GTM ended with ${code ?? signal}: ${last}`)));
    await started.promise;
    const startedMegabytes = residentMegabytes(child.pid);
    await serve(`http://127.0.0.1:${http}`, count);
    while (!/^gtm_pins_waiting 0$/m.test(await textOf(metrics))) await pause(200);
    return { startedMegabytes, cachedMegabytes: residentMegabytes(child.pid) };
  } finally {
    child.kill("SIGTERM");
    await once(child, "exit");
    rmSync(folder, { recursive: true });
  }
};

const serve = async (origin: string, count: number): Promise<void> => {
  const pool = new Pool(origin, { connections: CONNECTIONS });
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const name = `conversation-${next++}`;
      const answer = await pool.request({
        ...{ path: "/v1/chat/completions", method: "POST" },
        headers: { "content-type": "application/json", "x-conversation-id": name },
        body: JSON.stringify({ model: SIMULATED_ALIAS, messages: [{ role: "user", content: name }] }),
      });
      await answer.body.dump();
      if (answer.statusCode !== 307) throw new Error(`expected a redirect, got ${answer.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  await pool.close();
};

const textOf = async (port: number): Promise<string> => (await request(`http://127.0.0.1:${port}/metrics`)).body.text();

/** As Linux counts it. */
const residentMegabytes = (pid: number | undefined): number => {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round((Number(kilobytes) * 1_024) / 1e6);
};
