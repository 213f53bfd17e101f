/** A program of this repository in a process of its own, as its unit starts it: its log heard, its metrics read, its clock perhaps wrong. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { here, type Place } from "./place.ts";

/** A line of its log. */
export type Event = { readonly event: string; readonly [field: string]: unknown };

export type RunningProgram = AsyncDisposable & {
  readonly events: readonly Event[];
  /** Those that hold all of these fields, so far. */
  readonly said: (event: string, fields?: Readonly<Record<string, unknown>>) => readonly Event[];
  /** Of its listener of this name, such as `metrics`. */
  readonly url: (listener: string) => string;
  readonly get: (listener: string, path: string) => Promise<{ readonly status: number; readonly text: string }>;
  /** The series' value, NaN where there is none. */
  readonly metric: (name: string, labels?: Readonly<Record<string, string>>) => Promise<number>;
  readonly pid: number;
  /** Path of its configuration. */
  readonly config: string;
};

export type ProgramOptions = {
  /** How far its time of day is off; negative: behind. */
  readonly clockOffMs?: number;
  /** Where it runs; else on this host. What it serves is then not to be reached from here. */
  readonly within?: Pick<Place, "spawn">;
  /** Where its configuration lies already; else it is written. */
  readonly config?: string;
};

/**
 * @param main such as `edge-agent/main.ts`
 * @param settings its configuration
 * @returns once it says that it has started
 */
export const startProgram = async (
  main: string,
  command: string,
  settings: object,
  options: ProgramOptions = {},
): Promise<RunningProgram> => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-program-"));
  const config = options.config ?? join(folder, "config.yaml");
  // JSON is YAML.
  if (options.config === undefined) writeFileSync(config, JSON.stringify(settings));
  const words = [process.execPath, ...clockWords(options.clockOffMs ?? 0), main, command, "--config", config];
  const child = (options.within ?? here).spawn(words, { stdio: ["ignore", "pipe", "pipe"] });
  if (child.stdout === null || child.stderr === null) throw new Error("a process without pipes");
  const end = (): void => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", end);
  const events: Event[] = [];
  let complaint = "";
  const ended = once(child, "exit");
  child.stderr.on("data", (text) => {
    complaint += text;
  });
  const started = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const event = JSON.parse(line) as Event;
    events.push(event);
    if (event.event === "process.started") started.resolve();
  });
  const said: RunningProgram["said"] = (event, fields = {}) =>
    events.filter((one) => one.event === event && Object.entries(fields).every(([name, value]) => one[name] === value));
  const stop = async (): Promise<void> => {
    process.off("exit", end);
    end();
    await ended;
  };
  // No deadline but the test's own: on a busy machine a program needs many seconds until it has read its sources.
  const isStarted = await Promise.race([started.promise.then(() => true), ended.then(() => false)]);
  if (!isStarted) {
    await stop();
    throw new Error(`${main} ended: ${complaint}${events.map((one) => JSON.stringify(one)).join("\n")}`);
  }
  const url = (listener: string): string => {
    const where = said(`${listener}.listening`)[0];
    return `http://${where?.["port"] === undefined ? where?.["address"] : `${where["address"]}:${where["port"]}`}`;
  };
  const get: RunningProgram["get"] = async (listener, path) => {
    const response = await fetch(url(listener) + path);
    return { status: response.status, text: await response.text() };
  };
  return {
    events,
    said,
    url,
    get,
    metric: async (name, labels = {}) => {
      const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      const lines = (await get("metrics", "/metrics")).text.split("\n");
      const line = lines.find(
        (one) => /^[^{ ]+/.exec(one)?.[0] === name && wanted.every((label) => one.includes(label)),
      );
      return line === undefined ? Number.NaN : Number(line.slice(line.lastIndexOf(" ") + 1));
    },
    pid: Number(child.pid),
    config,
    [Symbol.asyncDispose]: stop,
  };
};

/** Its time of day alone: the monotonic clock of a machine is right whatever somebody sets. */
const clockWords = (offMs: number): readonly string[] => {
  if (offMs === 0) return [];
  const script = `const right = Date.now; Date.now = () => right() + ${offMs};`;
  return ["--import", `data:text/javascript,${encodeURIComponent(script)}`];
};
