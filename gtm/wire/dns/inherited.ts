/** Sockets that whoever started this process has opened for it, as systemd does (sd_listen_fds(3)): which there are, and what they are. */
import { readFileSync, readlinkSync } from "node:fs";
import { isIPv6 } from "node:net";
import { endianness } from "node:os";

export type InheritedSocket = {
  readonly fd: number;
  readonly protocol: "udp" | "tcp";
  readonly family: 4 | 6;
  readonly address: string;
  readonly port: number;
};

/** What the process can see of itself. */
export type Surroundings = {
  readonly pid: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What a descriptor is, such as "socket:[4711]"; throws where there is none. */
  readonly linkOf: (fd: number) => string;
  /** The kernel's table of these sockets, its header first. */
  readonly tableOf: (name: TableName) => string;
};

export const processSurroundings = (): Surroundings => ({
  pid: process.pid,
  env: process.env,
  linkOf: (fd) => readlinkSync(`/proc/self/fd/${fd}`),
  tableOf: (name) => readFileSync(`/proc/self/net/${name}`, "latin1"),
});

type TableName = (typeof TABLES)[number]["name"];

const TABLES = [
  { name: "udp", protocol: "udp", family: 4 },
  { name: "udp6", protocol: "udp", family: 6 },
  { name: "tcp", protocol: "tcp", family: 4 },
  { name: "tcp6", protocol: "tcp", family: 6 },
] as const;

/** The first one that is passed. */
const FIRST_FD = 3;
/** The kernel's TCP_LISTEN. */
const IS_LISTENING = "0A";

/**
 * Read from the kernel's tables, since Node tells the family of a socket only after it has been told.
 *
 * @throws {Error} whose message says what was found instead of a socket that DNS can be answered on
 */
export const inheritedSocket = (fd: number, { pid, env, linkOf, tableOf }: Surroundings): InheritedSocket => {
  requirePassed(fd, pid, env);
  const link = linkedTo(fd, linkOf);
  const [, inode] = /^socket:\[(\d+)\]$/.exec(link) ?? [];
  if (inode === undefined) throw new Error(`${link}, which is no socket`);
  for (const { name, protocol, family } of TABLES) {
    const row = rowsOf(tableOf(name)).find((one) => one.inode === inode);
    if (row === undefined) continue;
    if (protocol === "tcp" && row.state !== IS_LISTENING) throw new Error("a TCP socket that does not listen");
    return { fd, protocol, family, ...placeOf(row.local) };
  }
  throw new Error("a socket that is neither of UDP nor of TCP in this network namespace");
};

const requirePassed = (fd: number, pid: number, env: Surroundings["env"]): void => {
  const { LISTEN_FDS: count, LISTEN_PID: receiver } = env;
  if (count === undefined) throw new Error("no LISTEN_FDS: the program was not started by a .socket unit");
  if (receiver !== String(pid)) {
    throw new Error(`descriptors that are meant for process ${receiver ?? "unknown"} (LISTEN_PID), and this is ${pid}`);
  }
  const passed = /^\d{1,6}$/.test(count) ? Number(count) : 0;
  if (fd >= FIRST_FD && fd < FIRST_FD + passed) return;
  const range = passed === 0 ? "none" : `${FIRST_FD} to ${FIRST_FD + passed - 1}`;
  throw new Error(`descriptors passed: ${range} (LISTEN_FDS)`);
};

const linkedTo = (fd: number, linkOf: Surroundings["linkOf"]): string => {
  try {
    return linkOf(fd);
  } catch (cause) {
    throw new Error("no open descriptor", { cause });
  }
};

type Row = { readonly local: string; readonly state: string; readonly inode: string };

const rowsOf = (table: string): readonly Row[] =>
  table
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .map(([, local = "", , state = "", , , , , , inode = ""]) => ({ local, state, inode }));

/** "0100007F:0035": words of the machine's own order, then the port. */
const placeOf = (local: string): { readonly address: string; readonly port: number } => {
  const [words = "", port = ""] = local.split(":");
  const octets = Buffer.from(words, "hex");
  if (endianness() === "LE") octets.swap32();
  return { address: octets.length === 4 ? octets.join(".") : ipv6Text(octets), port: Number.parseInt(port, 16) };
};

const ipv6Text = (octets: Buffer): string => {
  const groups = Array.from({ length: 8 }, (_, i) => octets.readUInt16BE(i * 2).toString(16)).join(":");
  if (!isIPv6(groups)) throw new Error(`an address that cannot be read: ${groups}`);
  // "0:0:0:0:0:0:0:1" to "::1", as everybody else writes it.
  return new URL(`http://[${groups}]`).hostname.slice(1, -1);
};
