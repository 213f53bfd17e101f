/** Memory of a GTM process once it serves: with the operator's own subnets alone, and with the geography data. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { houseYaml } from "#test/support/house.ts";
import type { Bench, BenchRow } from "./bench.ts";

const serving = async (provider: "static" | "builtin"): Promise<BenchRow> => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-memory-"));
  const path = join(folder, "gtm.yaml");
  const config = JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } }));
  writeFileSync(path, JSON.stringify({ ...config, geo: { ...config.geo, provider } }));
  const child = spawn(process.execPath, ["gtm/main.ts", "serve", "--config", path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.includes('"process.started"')) break;
    }
    child.stdout.resume();
    const value = residentMegabytes(child.pid);
    return {
      what: `RSS of a GTM, geo.provider ${provider}`,
      value,
      unit: "MB",
      against: null,
      ratio: null,
      bound: null,
    };
  } finally {
    child.kill("SIGTERM");
    await once(child, "exit");
    rmSync(folder, { recursive: true });
  }
};

/** As Linux counts it. */
const residentMegabytes = (pid: number | undefined): number => {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round((Number(kilobytes) * 1_024) / 1e6);
};

export const bench: Bench = {
  name: "gtm-memory",
  run: async () => [await serving("static"), await serving("builtin")],
};
