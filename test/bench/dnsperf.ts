/** dnsperf with packets made beforehand: its own options know one client subnet only. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { searchPath } from "#test/prerequisites.ts";

export type DnsperfRun = {
  readonly completed: number;
  readonly lost: number;
  readonly queriesPerSecond: number;
  /** Answers with another code than NOERROR. */
  readonly failed: number;
};

export type DnsperfOrder = {
  readonly file: string;
  readonly port: number;
  /** Queries under way at once. */
  readonly underWay: number;
  readonly limit: { readonly seconds: number } | { readonly rounds: number };
  /** Queries a second at most; null: as many as are answered. */
  readonly mostPerSecond: number | null;
  /** The processor it runs on; null: any. */
  readonly cpu: number | null;
};

/** A file of whole messages, each behind its length in two octets, for `dnsperf -B`. */
export const writePackets = (folder: string, packets: readonly Buffer[]): string => {
  const file = join(folder, "packets");
  const pieces = packets.flatMap((packet) => [Buffer.from([packet.length >>> 8, packet.length & 0xff]), packet]);
  writeFileSync(file, Buffer.concat(pieces));
  return file;
};

const run = promisify(execFile);

/** @throws {Error} dnsperf is missing, or said something else than its report */
export const dnsperf = async (order: DnsperfOrder): Promise<DnsperfRun> => {
  const { file, port, underWay, limit, mostPerSecond, cpu } = order;
  const arguments_ = [
    "-B",
    "-d",
    file,
    "-s",
    "127.0.0.1",
    "-p",
    String(port),
    "-q",
    String(underWay),
    "-c",
    "4",
    "-t",
    "2",
  ];
  arguments_.push(...("seconds" in limit ? ["-l", String(limit.seconds)] : ["-n", String(limit.rounds)]));
  if (mostPerSecond !== null) arguments_.push("-Q", String(mostPerSecond));
  const [command, ...rest] = [...(cpu === null ? [] : ["taskset", "-c", String(cpu)]), "dnsperf", ...arguments_];
  const { stdout } = await run(command ?? "dnsperf", rest, { env: { ...process.env, PATH: searchPath() } });
  const completed = numberAfter(stdout, "Queries completed:");
  return {
    completed,
    lost: numberAfter(stdout, "Queries lost:"),
    queriesPerSecond: numberAfter(stdout, "Queries per second:"),
    failed: completed - (/NOERROR ([0-9]+)/.exec(stdout) === null ? 0 : Number(/NOERROR ([0-9]+)/.exec(stdout)?.[1])),
  };
};

const numberAfter = (text: string, label: string): number => {
  const [, number] = new RegExp(`${label}\\s+([0-9.]+)`).exec(text) ?? [];
  if (number === undefined) throw new Error(`dnsperf did not say "${label}": ${text}`);
  return Number(number);
};
