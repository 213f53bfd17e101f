import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { installCommand, isOnPath, planFor, REQUIREMENTS, type Surroundings } from "../../prerequisites.ts";

const container: Surroundings = {
  missing: REQUIREMENTS,
  isRoot: true,
  isTerminal: false,
  hasAptGet: true,
  hasSudo: false,
};
const person: Surroundings = { missing: REQUIREMENTS, isRoot: false, isTerminal: true, hasAptGet: true, hasSudo: true };
const packages = [...new Set(REQUIREMENTS.map(({ aptPackage }) => aptPackage))];

describe("a machine that lacks programs", () => {
  const cases: readonly {
    readonly who: string;
    readonly is: Surroundings;
    readonly does: ReturnType<typeof planFor>["kind"];
    readonly withSudo?: boolean;
  }[] = [
    { who: "root without a terminal", is: container, does: "install", withSudo: false },
    { who: "root on a terminal", is: { ...container, isTerminal: true }, does: "ask", withSudo: false },
    { who: "a person with sudo on a terminal", is: person, does: "ask", withSudo: true },
    { who: "a person without sudo", is: { ...person, hasSudo: false }, does: "fail" },
    { who: "a job that is not root, though it has sudo", is: { ...person, isTerminal: false }, does: "fail" },
    { who: "root without apt-get", is: { ...container, hasAptGet: false }, does: "fail" },
    { who: "a person without apt-get", is: { ...person, hasAptGet: false }, does: "fail" },
    { who: "nobody, since nothing is missing,", is: { ...container, missing: [] }, does: "nothing" },
  ];
  for (const { who, is, does, withSudo } of cases) {
    it(`does "${does}" for ${who}`, () => {
      const plan = planFor(is);
      assert.equal(plan.kind, does);
      if (plan.kind === "install" || plan.kind === "ask") assert.deepEqual(plan, { kind: does, packages, withSudo });
    });
  }
  it("installs only what is missing", () => {
    const missing = REQUIREMENTS.filter(({ command }) => command === "dig");
    assert.deepEqual(planFor({ ...container, missing }), {
      kind: "install",
      packages: ["bind9-dnsutils"],
      withSudo: false,
    });
  });
});

describe("what is told when the tests cannot run", () => {
  const messageOf = (is: Surroundings): string => {
    const plan = planFor(is);
    assert.equal(plan.kind, "fail");
    return plan.kind === "fail" ? plan.message : "";
  };
  it("names the programs and the exact line, with sudo where it exists", () => {
    const message = messageOf({ ...person, isTerminal: false });
    assert.match(message, /redis-server \(.*dig \(.*curl \(/s);
    assert.match(
      message,
      /^ {2}sudo apt-get update && sudo apt-get install -y redis-server redis-tools openssl bind9-dnsutils knot-dnsutils knot iproute2 util-linux mount python3 bind9 unbound knot-resolver zonemaster-cli lego pebble systemd python3-httpx python3-requests curl chromium$/m,
    );
  });
  it("names the line for root where there is no sudo", () => {
    const message = messageOf({ ...person, hasSudo: false });
    assert.match(
      message,
      /^ {2}su -c 'apt-get update && apt-get install -y redis-server redis-tools openssl bind9-dnsutils knot-dnsutils knot iproute2 util-linux mount python3 bind9 unbound knot-resolver zonemaster-cli lego pebble systemd python3-httpx python3-requests curl chromium'$/m,
    );
  });
  it("leaves the line to the person where the package manager is another", () => {
    assert.match(
      messageOf({ ...person, hasAptGet: false }),
      /package manager; Debian calls it redis-server and redis-tools and openssl and bind9-dnsutils and knot-dnsutils and knot and iproute2 and util-linux and mount and python3 and bind9 and unbound and knot-resolver and zonemaster-cli and lego and pebble and systemd and python3-httpx and python3-requests and curl and chromium/,
    );
  });
});

describe("the installation", () => {
  const [program, flag, script = ""] = installCommand(["redis-server"], false);
  it("is one shell that stops at the first failure", () => assert.deepEqual([program, flag], ["sh", "-ec"]));

  /** Runs the script with an apt-get that only writes down how it was called, and what the policy said meanwhile. */
  const run = (policyBefore: string | null, aptGet: string) => {
    const folder = mkdtempSync(join(tmpdir(), "gtm-install-"));
    const policy = join(folder, "policy-rc.d");
    if (policyBefore !== null) writeFileSync(policy, policyBefore, { mode: 0o755 });
    writeFileSync(join(folder, "apt-get"), `#!/bin/sh\n${aptGet}\n`, { mode: 0o755 });
    const { status, stdout } = spawnSync("sh", ["-ec", script.replace("/usr/sbin/policy-rc.d", policy)], {
      encoding: "utf8",
      env: { PATH: `${folder}:/usr/bin:/bin`, POLICY: policy },
    });
    const policyAfter = existsSync(policy) ? readFileSync(policy, "utf8") : null;
    rmSync(folder, { recursive: true });
    return { status, lines: stdout.trim().split("\n"), policyAfter };
  };
  const askPolicy = 'echo "$3 $4 $5 $6"; "$POLICY" redis-server start || echo "policy says $?"';

  it("refreshes the lists, then installs, and lets no service start meanwhile", () => {
    assert.deepEqual(run(null, askPolicy), {
      status: 0,
      lines: ["update   ", "policy says 101", "install -y --no-install-recommends redis-server", "policy says 101"],
      policyAfter: null,
    });
  });
  it("leaves alone a policy that the machine has already", () => {
    const policy = "#!/bin/sh\nexit 104\n";
    const { lines, policyAfter } = run(policy, askPolicy);
    assert.deepEqual([lines[1], policyAfter], ["policy says 104", policy]);
  });
  it("takes its policy back when apt-get fails, and fails too", () => {
    const { status, policyAfter } = run(null, "exit 100");
    assert.deepEqual([status, policyAfter], [100, null]);
  });
  it("goes through sudo where the person is not root", () => {
    assert.deepEqual(installCommand(["redis-server"], true).slice(0, 3), ["sudo", "sh", "-ec"]);
  });
});

describe("a program", () => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-path-"));
  after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "tool"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(folder, "text"), "", { mode: 0o644 });

  it("is found in any folder of the path", () => {
    assert.equal(isOnPath("tool", `/nowhere:${folder}`), true);
    assert.equal(isOnPath("none", `/nowhere:${folder}`), false);
    assert.equal(isOnPath("tool", ""), false);
  });
  it("is not a file that nobody may execute", () => {
    // Root may execute whatever anybody may; a file without any such right is no program for root either.
    assert.equal(isOnPath("text", folder), false);
  });
});
