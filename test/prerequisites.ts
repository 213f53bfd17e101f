/** Programs that the tests run beside Node: what is missing, and how it comes here. A test that lacks its program is never skipped. */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { createInterface } from "node:readline/promises";

export type Requirement = {
  /** Found on the path; or what has no command: where it lies. */
  readonly command: string;
  readonly why: string;
  /** On Debian and Ubuntu. */
  readonly aptPackage: string;
};

export const REQUIREMENTS: readonly Requirement[] = [
  {
    command: "redis-server",
    why: "the store's production implementation is tested against the real one",
    aptPackage: "redis-server",
  },
  { command: "redis-cli", why: "what is in the store is read by an independent client", aptPackage: "redis-tools" },
  { command: "openssl", why: "TLS to the store is tested with certificates made on the spot", aptPackage: "openssl" },
  { command: "dig", why: "DNS answers are read by an independent client", aptPackage: "bind9-dnsutils" },
  { command: "kdig", why: "and by another one, of another house", aptPackage: "knot-dnsutils" },
  { command: "knotd", why: "what it makes of a zone is what ours must make of it", aptPackage: "knot" },
  { command: "ip", why: "hosts with addresses of their own are network namespaces", aptPackage: "iproute2" },
  { command: "unshare", why: "who is not root makes them in a user namespace of his own", aptPackage: "util-linux" },
  { command: "nsenter", why: "and runs programs in them", aptPackage: "util-linux" },
  { command: "mount", why: "and they have a resolv.conf of their own", aptPackage: "mount" },
  { command: "python3", why: "datagrams with forged addresses need raw sockets", aptPackage: "python3" },
  { command: "named", why: "the parent zone is on BIND, and it resolves", aptPackage: "bind9" },
  { command: "unbound", why: "a strict resolver that tells the client's subnet", aptPackage: "unbound" },
  { command: "kresd", why: "another resolver, of another house", aptPackage: "knot-resolver" },
  { command: "zonemaster-cli", why: "an independent judge of delegations", aptPackage: "zonemaster-cli" },
  { command: "lego", why: "a wildcard certificate is asked for as operators do", aptPackage: "lego" },
  { command: "pebble", why: "the certificate authority that lego asks", aptPackage: "pebble" },
  {
    command: "systemd-socket-activate",
    why: "the GTM is handed its sockets as systemd hands them over",
    aptPackage: "systemd",
  },
  { command: "httpx", why: "a Python client asks as the README says", aptPackage: "python3-httpx" },
  {
    command: "/usr/lib/python3/dist-packages/requests",
    why: "another Python client, which drops its key at a redirect",
    aptPackage: "python3-requests",
  },
  { command: "curl", why: "redirects are followed as a person would", aptPackage: "curl" },
  { command: "chromium", why: "a page asks across origins, by a browser's own rules", aptPackage: "chromium" },
];

export type Surroundings = {
  readonly missing: readonly Requirement[];
  readonly isRoot: boolean;
  /** Whether somebody can be asked. */
  readonly isTerminal: boolean;
  readonly hasAptGet: boolean;
  readonly hasSudo: boolean;
};

export type InstallPlan =
  | { readonly kind: "nothing" }
  /** @see installCommand */
  | { readonly kind: "install" | "ask"; readonly packages: readonly string[]; readonly withSudo: boolean }
  | { readonly kind: "fail"; readonly message: string };

/** Unasked only where nobody is there and the machine is ours to change: root without a terminal, as in a container. */
export const planFor = ({ missing, isRoot, isTerminal, hasAptGet, hasSudo }: Surroundings): InstallPlan => {
  if (missing.length === 0) return { kind: "nothing" };
  const packages = [...new Set(missing.map(({ aptPackage }) => aptPackage))];
  const lacking = `The tests need ${missing.map(({ command, why }) => `${command} (${why})`).join(" and ")}.`;
  if (!hasAptGet) {
    const message = `${lacking} Install it with this system's package manager; Debian calls it ${packages.join(" and ")}.`;
    return { kind: "fail", message };
  }
  if (isRoot) return { kind: isTerminal ? "ask" : "install", packages, withSudo: false };
  if (isTerminal && hasSudo) return { kind: "ask", packages, withSudo: true };
  return { kind: "fail", message: `${lacking} Type:\n\n  ${lineToType(packages, hasSudo ? "sudo" : "su")}\n` };
};

const lineToType = (packages: readonly string[], as: "root" | "sudo" | "su"): string => {
  const sudo = as === "sudo" ? "sudo " : "";
  const line = `${sudo}apt-get update && ${sudo}apt-get install -y ${packages.join(" ")}`;
  return as === "su" ? `su -c '${line}'` : line;
};

/**
 * Debian's packages start their service once installed, which would leave a Redis on its usual port. `policy-rc.d` is
 * Debian's way to say no; it stands only while apt-get runs, and one that is there already is left alone.
 */
export const installCommand = (packages: readonly string[], withSudo: boolean): readonly [string, ...string[]] => {
  const script = `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > "$policy"
  chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -o DPkg::Lock::Timeout=120 update
apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends ${packages.join(" ")}
`;
  return withSudo ? ["sudo", "sh", "-ec", script] : ["sh", "-ec", script];
};

/** @param path as in the environment: folders, in the order searched */
export const isOnPath = (command: string, path: string): boolean =>
  isAbsolute(command)
    ? mayEnter(command)
    : path.split(delimiter).some((folder) => folder !== "" && mayEnter(join(folder, command)));

/** A program may be run, a folder entered: the same right. */
const mayEnter = (where: string): boolean => {
  try {
    accessSync(where, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Servers lie where not everybody's path leads. */
export const searchPath = (): string => [process.env["PATH"] ?? "", "/usr/sbin"].join(delimiter);

const surroundings = (): Surroundings => {
  const has = (command: string): boolean => isOnPath(command, searchPath());
  return {
    missing: REQUIREMENTS.filter(({ command }) => !has(command)),
    isRoot: process.getuid?.() === 0,
    isTerminal: process.stdin.isTTY === true && process.stdout.isTTY === true,
    hasAptGet: has("apt-get"),
    hasSudo: has("sudo"),
  };
};

/** @returns null when everything is here; else what to tell, and the tests must not run */
export const bringPrerequisites = async (): Promise<string | null> => {
  const plan = planFor(surroundings());
  if (plan.kind === "nothing") return null;
  if (plan.kind === "fail") return plan.message;
  const by = lineToType(plan.packages, plan.withSudo ? "sudo" : "root");
  if (plan.kind === "ask" && !(await isAgreed(plan.packages)))
    return `Nothing was installed. To do it by hand, type:\n\n  ${by}\n`;
  process.stdout.write(`Installing ${plan.packages.join(", ")} for the tests.\n`);
  const [program, ...args] = installCommand(plan.packages, plan.withSudo);
  const { status } = spawnSync(program, args, { stdio: ["inherit", process.stderr, process.stderr] });
  const { missing } = surroundings();
  if (status === 0 && missing.length === 0) return null;
  return `Installing ${plan.packages.join(", ")} failed. To see why, type:\n\n  ${by}\n`;
};

const isAgreed = async (packages: readonly string[]): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`The tests need ${packages.join(" and ")}. Install with apt-get? [y/N] `);
  terminal.close();
  return /^y(?:es)?$/i.test(answer.trim());
};
