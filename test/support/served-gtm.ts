/** `gtm serve` as a process on free ports, asked the way clients, resolvers and Prometheus ask. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { request } from "undici";

export type ServedAddress = { readonly address: string; readonly port: number };

export type ServedGtm = AsyncDisposable & {
  readonly dns: ServedAddress;
  readonly signal: (name: NodeJS.Signals) => void;
  /** A chat turn; redirects are not followed. @returns status, and headers in lower case */
  readonly post: (headers: Readonly<Record<string, string>>) => Promise<{
    readonly status: number;
    readonly header: (name: string) => string;
  }>;
  /** The sum of a counter's series that have these labels; 0 where there is none yet. */
  readonly counted: (name: string, labels?: Readonly<Record<string, string>>) => Promise<number>;
};

const WANTED = ["dns", "http", "metrics"] as const;

/** @param settings the configuration, with port 0 everywhere */
export const serveGtm = async (settings: object): Promise<ServedGtm> => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-served-"));
  const config = join(folder, "gtm.yaml");
  writeFileSync(config, JSON.stringify(settings));
  const child = spawn(process.execPath, ["gtm/main.ts", "serve", "--config", config], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const killed = (): void => {
    child.kill("SIGKILL");
  };
  process.once("exit", killed);
  const said: string[] = [];
  const found = new Map<string, ServedAddress>();
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    const { event, address, port } = JSON.parse(line) as { event: string; address: string; port: number };
    const wire = WANTED.find((one) => event === `${one}.listening`);
    if (wire !== undefined) found.set(wire, port === undefined ? addressIn(address) : { address, port });
    if (event === "process.started") break;
  }
  child.stdout.resume();
  const at = (wire: (typeof WANTED)[number]): ServedAddress => {
    const address = found.get(wire);
    assert.ok(address !== undefined, `it said where ${wire} listens:\n${said.join("\n")}`);
    return address;
  };
  const urlOf = ({ address, port }: ServedAddress): string => `http://${address}:${port}`;
  return {
    dns: at("dns"),
    signal: (name) => child.kill(name),
    post: async (headers) => {
      const answer = await request(`${urlOf(at("http"))}/v1/chat/completions`, { method: "POST", headers, body: "{}" });
      await answer.body.dump();
      return { status: answer.statusCode, header: (name) => String(answer.headers[name] ?? "") };
    },
    counted: async (name, labels = {}) => {
      const { body } = await request(`${urlOf(at("metrics"))}/metrics`);
      const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
      return (await body.text())
        .split("\n")
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .filter((line) => wanted.every((one) => line.includes(one)))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
    },
    [Symbol.asyncDispose]: async () => {
      process.off("exit", killed);
      killed();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
};

/** "127.0.0.1:8080" */
const addressIn = (text: string): ServedAddress => {
  const at = text.lastIndexOf(":");
  return { address: text.slice(0, at), port: Number(text.slice(at + 1)) };
};
