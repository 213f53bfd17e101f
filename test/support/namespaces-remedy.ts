/** What to type where no network namespace can be made. */
import { existsSync, readFileSync } from "node:fs";
import { isOnPath, searchPath } from "#test/prerequisites.ts";

export type Surroundings = {
  readonly isRoot: boolean;
  readonly isContainer: boolean;
  readonly hasSudo: boolean;
  /** The kernel's setting of this name without its line's end; null: it has none. */
  readonly setting: (name: string) => string | null;
};

/** What forbids user namespaces, and what allows them. The first is Debian's, the second Ubuntu's. */
const SETTINGS = [
  { name: "kernel.unprivileged_userns_clone", forbids: "0", allows: "1" },
  { name: "kernel.apparmor_restrict_unprivileged_userns", forbids: "1", allows: "0" },
  { name: "user.max_user_namespaces", forbids: "0", allows: "10000" },
] as const;

/** @returns sentences that end with the line */
export const remedyFor = ({ isRoot, isContainer, hasSudo, setting }: Surroundings): string => {
  // A root who lacks these rights is one of a container, whether it can be recognised or not.
  if (isRoot) return told("This container may not make them. Run it with:", "docker run --privileged …");
  const forbidding = SETTINGS.filter(({ name, forbids }) => setting(name) === forbids);
  if (forbidding.length > 0) {
    const names = forbidding.map(({ name, forbids }) => `${name} is ${forbids}`).join(" and ");
    const line = `sysctl -w ${forbidding.map(({ name, allows }) => `${name}=${allows}`).join(" ")}`;
    const where = isContainer ? ", on the host of this container" : "";
    return told(`User namespaces are forbidden here: ${names}. Type${where}:`, asRoot(line, hasSudo));
  }
  if (isContainer) return told("This container may not make them. Run it with:", "docker run --privileged …");
  return told("No setting says why; root can make them. Type:", asRoot('env "PATH=$PATH" npm test', hasSudo));
};

const told = (what: string, line: string): string => `${what}\n\n  ${line}\n`;

const asRoot = (line: string, hasSudo: boolean): string => (hasSudo ? `sudo ${line}` : `su -c '${line}'`);

export const surroundings = (): Surroundings => ({
  isRoot: process.getuid?.() === 0,
  isContainer: existsSync("/.dockerenv") || existsSync("/run/.containerenv"),
  hasSudo: isOnPath("sudo", searchPath()),
  setting: (name) => {
    try {
      return readFileSync(`/proc/sys/${name.replaceAll(".", "/")}`, "utf8").trim();
    } catch {
      return null;
    }
  },
});
