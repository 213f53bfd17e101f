/** A closed network of hosts with real addresses: a namespace each, one cable to a common switch, nobody else on it. */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Ended } from "#test/support/program.ts";

export type Host = {
  /** Of its namespace, as `ip netns` knows it. */
  readonly namespace: string;
  /** IPv4 and IPv6, the first of each family is what it speaks from. */
  readonly addresses: readonly string[];
  /** A command of this host; it becomes the command itself, so that signals reach it. */
  readonly spawn: (command: readonly string[], options?: SpawnOptions) => ChildProcess;
  /** The same run to its end. */
  readonly run: (command: readonly string[]) => Promise<Ended>;
};

export type Network<Name extends string> = Disposable & { readonly host: (name: Name) => Host };

let networks = 0;

/** Where `ip netns exec` looks for what stands in /etc for one namespace alone. */
const ETC = "/etc/netns";

/**
 * Every host reaches every address without a router: whoever has it answers for it.
 *
 * @param addresses by host; every address of the world may be used, as nothing leaves
 * @param resolver whom programs of these hosts ask for names
 * @throws {Error} where namespaces cannot be made; tests that need them fail there, and are not skipped
 */
export const makeNetwork = <Name extends string>(
  addresses: Readonly<Record<Name, readonly string[]>>,
  resolver: string,
): Network<Name> => {
  networks += 1;
  const prefix = `gtm-test-${process.pid}-${networks}`;
  const names = Object.keys(addresses) as Name[];
  const hub = `${prefix}-switch`;
  const namespaceOf = (name: string): string => `${prefix}-${name}`;
  const all = [hub, ...names.map(namespaceOf)];
  const remove = (): void => {
    for (const one of all) {
      ip(["netns", "delete", one]);
      rmSync(join(ETC, one), { recursive: true, force: true });
    }
  };
  process.once("exit", remove);
  const stop = (): void => {
    process.off("exit", remove);
    remove();
  };
  try {
    for (const one of all) mustDo(["netns", "add", one]);
    batch(hub, ["link add name switch type bridge", "link set switch up", "link set lo up"]);
    for (const [at, name] of names.entries()) {
      batch(hub, [
        `link add name port${at} type veth peer name eth0 netns ${namespaceOf(name)}`,
        `link set port${at} master switch up`,
      ]);
      batch(namespaceOf(name), cable(addresses[name]));
      mkdirSync(join(ETC, namespaceOf(name)), { recursive: true });
      writeFileSync(join(ETC, namespaceOf(name), "resolv.conf"), `nameserver ${resolver}\n`);
    }
  } catch (fault) {
    stop();
    throw fault;
  }
  return { host: (name) => hostOf(namespaceOf(name), addresses[name]), [Symbol.dispose]: stop };
};

const cable = (addresses: readonly string[]): readonly string[] => [
  "link set lo up",
  // Without a wait for somebody else who might have these addresses.
  ...addresses.map((one) =>
    one.includes(":") ? `address add ${one}/128 dev eth0 nodad` : `address add ${one}/32 dev eth0`,
  ),
  "link set eth0 up",
  "route add default dev eth0",
  "-6 route add default dev eth0",
];

const ip = (words: readonly string[], input = ""): { readonly isDone: boolean; readonly why: string } => {
  const { status, stderr, error } = spawnSync("ip", words, { input, encoding: "utf8" });
  return { isDone: status === 0, why: error?.message ?? stderr.trim() };
};

const mustDo = (words: readonly string[], input = ""): void => {
  const { isDone, why } = ip(words, input);
  if (isDone) return;
  throw new Error(
    `No network namespace can be had: ip ${words.join(" ")}: ${why}. This test needs root with CAP_NET_ADMIN and CAP_SYS_ADMIN (docker run --privileged), and iproute2.`,
  );
};

const batch = (namespace: string, lines: readonly string[]): void => {
  // `ip -6` inside a batch is no command: the family is a matter of the whole call.
  const of = (isSix: boolean): string =>
    lines.flatMap((line) => (line.startsWith("-6 ") === isSix ? [line.replace("-6 ", "")] : [])).join("\n");
  mustDo(["-n", namespace, "-batch", "-"], of(false));
  if (of(true) !== "") mustDo(["-6", "-n", namespace, "-batch", "-"], of(true));
};

const hostOf = (namespace: string, addresses: readonly string[]): Host => {
  const start: Host["spawn"] = (command, options = {}) =>
    spawn("ip", ["netns", "exec", namespace, ...command], options);
  return {
    namespace,
    addresses,
    spawn: start,
    run: async (command) => {
      const child = start(command, { stdio: ["ignore", "pipe", "pipe"] });
      if (child.stdout === null || child.stderr === null) throw new Error("a process without pipes");
      const closed = once(child, "close");
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      const [exitCode] = (await closed) as [number | null];
      return { exitCode, stdout, stderr };
    },
  };
};
