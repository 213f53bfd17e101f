/** Knot DNS, an independent authoritative server, with a zone of a test. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { searchPath } from "#test/prerequisites.ts";
import { askTcp } from "./dns-client.ts";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

export type Knot = AsyncDisposable & { readonly address: string; readonly port: number };

/**
 * @param zoneFile RFC 1035 §5, names whole
 * @param checks whether a zone that is amiss is refused
 */
export const startKnot = async (zone: string, zoneFile: string, checks: "on" | "off" = "on"): Promise<Knot> => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-knot-"));
  const port = await freePort();
  const settings = [
    "server:",
    `  rundir: "${folder}"`,
    `  listen: 127.0.0.1@${port}`,
    "database:",
    `  storage: "${folder}"`,
    "zone:",
    `  - domain: ${zone}`,
    `    file: "${join(folder, "zone")}"`,
    `    semantic-checks: ${checks}`,
    "",
  ];
  writeFileSync(join(folder, "zone"), zoneFile);
  writeFileSync(join(folder, "knot.conf"), settings.join("\n"));
  const child = spawn("knotd", ["--config", join(folder, "knot.conf")], {
    stdio: "ignore",
    env: { ...process.env, PATH: searchPath() },
  });
  const ended = once(child, "exit");
  const at = { address: "127.0.0.1", port };
  const isReady = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`knotd ended with ${child.exitCode}`);
    // Refused until it listens.
    return askTcp(at, { name: zone, type: 6 }).then(
      ({ rcode }) => rcode === 0,
      () => false,
    );
  };
  await until(isReady, "knotd with its zone");
  return {
    ...at,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
};
