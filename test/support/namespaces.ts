/** Network namespaces for whoever runs the tests, root or not: nobody else sees them, and they end with the process that made them. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { remedyFor, surroundings } from "./namespaces-remedy.ts";
import { type Place, placeBehind } from "./place.ts";

export type Namespaces = Disposable & {
  /** @throws {Error} with what it said, where it does not end with 0 */
  readonly ip: (words: readonly string[], input?: string) => void;
  /** @param name as `ip netns add` was told it */
  readonly place: (name: string) => Place;
};

/**
 * What holds the namespaces: `/run`, where `ip netns` keeps them, is its own, and so is what stands in resolv.conf, of
 * which it is told. It lasts as long as its standard input.
 */
const HOLDER = `
etc=$(readlink -m /etc/resolv.conf)
mount -t tmpfs tmpfs /run
mkdir -p "$(dirname "$etc")"
[ -e "$etc" ] || : > "$etc"
echo "$0" > /run/gtm-test-resolv.conf
mount --bind /run/gtm-test-resolv.conf "$etc"
ip netns add trial
ip netns exec trial true
echo ready
exec cat
`;

/** CAP_NET_ADMIN and CAP_SYS_ADMIN; a user who is root in a user namespace of his own has them there. */
const NEEDED = (1n << 12n) | (1n << 21n);

/** @param status /proc/self/status */
export const mayMakeNamespaces = (status: string): boolean => {
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0"}`);
  return (effective & NEEDED) === NEEDED;
};

/**
 * @param resolver whom programs in them ask for names
 * @throws {Error} with the line to type, where none can be made; tests that need them fail there, and are not skipped
 */
export const openNamespaces = async (resolver: string): Promise<Namespaces> => {
  const needsUser = !mayMakeNamespaces(readFileSync("/proc/self/status", "utf8"));
  const user = needsUser ? ["--user", "--map-root-user"] : [];
  const holder = spawn("unshare", [...user, "--mount", "--net", "sh", "-euc", HOLDER, `nameserver ${resolver}`], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  let why = "";
  holder.stderr.on("data", (data: Buffer) => {
    why += data.toString();
  });
  const closed = once(holder, "close").then(
    () => false,
    (fault: Error) => {
      why += fault.message;
      return false;
    },
  );
  const isReady = await Promise.race([once(holder.stdout, "data").then(() => true), closed]);
  if (!isReady) throw new Error(`No network namespace can be had (${why.trim()}). ${remedyFor(surroundings())}`);

  const enter = [
    ...["nsenter", `--target=${holder.pid}`, ...(needsUser ? ["--user", "--preserve-credentials"] : [])],
    // Another tree of mounts begins at its top.
    ...["--mount", "--net", "env", `--chdir=${process.cwd()}`],
  ];
  const [program = "", ...lead] = enter;
  return {
    ip: (words, input = "") => {
      const { status, stderr, error } = spawnSync(program, [...lead, "ip", ...words], { input, encoding: "utf8" });
      if (status !== 0) throw new Error(`ip ${words.join(" ")}: ${error?.message ?? stderr.trim()}`);
    },
    place: (name) => placeBehind([...enter, "ip", "netns", "exec", name]),
    [Symbol.dispose]: () => {
      holder.kill("SIGKILL");
    },
  };
};
