/** `gtm serve` as a process that is killed and started again on the same ports, and asked over its own API how it is. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { request } from "undici";
import { type Child, type Said, startChild } from "./child.ts";
import type { GtmName, Order } from "./history.ts";
import { type GtmWish, gtmYaml } from "./settings.ts";

export type GtmStatus = {
  /** What does not work, as the admin API says it, such as `store`. */
  readonly degraded: readonly string[];
  readonly isStoreUp: boolean;
  /** Of its regions. */
  readonly regions: readonly { readonly id: string; readonly admin: string; readonly health: string }[];
};

export type GtmProcess = {
  readonly name: GtmName;
  readonly origin: string;
  readonly dns: { readonly address: string; readonly port: number };
  /** Resolves when it answers. */
  readonly start: () => Promise<void>;
  /** Resolves when it has ended. */
  readonly kill: (signal: NodeJS.Signals) => Promise<void>;
  /** null: it does not answer. */
  readonly status: () => Promise<GtmStatus | null>;
  /** @returns undefined: it does not answer */
  readonly healthOf: (region: string) => Promise<string | undefined>;
  /** @returns the status of the API's answer */
  readonly order: (region: string, admin: Order["admin"]) => Promise<number>;
  /** A metric's lines as Prometheus would read them. */
  readonly metrics: (name: string) => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
};

type StatusBody = Omit<GtmStatus, "degraded"> & { readonly degradations?: readonly { readonly what: string }[] };

/** Nothing runs before `start`. */
export const createGtmProcess = (wish: GtmWish, onSaid: (name: GtmName, said: Said) => void): GtmProcess => {
  const { name, ports, folder } = wish;
  const config = join(folder, "gtm.yaml");
  const api = `http://127.0.0.1:${ports.admin}/api/v1`;
  let child: Child | null = null;
  writeFileSync(config, gtmYaml(wish));

  const status = async (): Promise<GtmStatus | null> => {
    try {
      const { statusCode, body } = await request(`${api}/status`);
      if (statusCode !== 200) throw new Error(`GET /status answered ${statusCode}`);
      const { degradations = [], isStoreUp, regions } = (await body.json()) as StatusBody;
      return { degraded: degradations.map(({ what }) => what), isStoreUp, regions };
    } catch (fault) {
      if (isUnreachable(fault)) return null;
      throw fault;
    }
  };

  return {
    name,
    origin: `http://127.0.0.1:${ports.http}`,
    dns: { address: "127.0.0.1", port: ports.dns },
    start: async () => {
      child = startChild(["gtm/main.ts", "serve", "--config", config], (said) => onSaid(name, said));
      await child.heard("process.started");
    },
    kill: async (signal) => child?.kill(signal),
    status,
    healthOf: async (region) => (await status())?.regions.find(({ id }) => id === region)?.health,
    order: async (region, admin) => {
      const wanted = admin === "active" ? { comment: "over" } : { mode: admin, comment: "of the fault suite" };
      const answer = await request(`${api}/regions/${region}/${admin === "active" ? "undrain" : "drain"}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(wanted),
      });
      await answer.body.dump();
      return answer.statusCode;
    },
    metrics: async (metric) => {
      const { body } = await request(`http://127.0.0.1:${ports.metrics}/metrics`);
      return (await body.text()).split("\n").filter((line) => line.startsWith(metric));
    },
    stop: async () => {
      if (child?.hasEnded() === false) await child.kill("SIGTERM");
    },
  };
};

const isUnreachable = (fault: unknown): boolean =>
  fault instanceof Error &&
  "code" in fault &&
  ["ECONNREFUSED", "ECONNRESET", "UND_ERR_SOCKET"].includes(String(fault.code));
