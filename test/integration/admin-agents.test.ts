/** What the admin API and the command line say of edge agents, over a real socket. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentPulse, AgentSeen } from "#gtm/wire/admin/agents-port.ts";
import { ReplicaId } from "#shared/ids.ts";
import { aRegion, regionId } from "#test/support/builders.ts";
import { aModelReport, aReplicaReport, aReport } from "#test/support/report-builders.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";
import { EPOCH_MS } from "#test/unit/gtm/wire/admin/fake-ports.ts";
import { type RunningAdmin, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const PULSE: AgentPulse = {
  ...{ firstHeardAtMs: EPOCH_MS - 3_600_000, intervalMs: 1_000.4, heardReports: 3_600, missedReports: 0, restarts: 0 },
  ...{ doubledAtMs: null, clockAheadMs: 12 },
};
const anAgent = (region: string, agent: string, wish: Partial<AgentSeen> = {}): AgentSeen => ({
  region: regionId(region),
  agent,
  report: { ...aReport(region, { agentName: agent, mac: "signed" }), agentVersion: "0.1.0" },
  ...{ reportAgeMs: 400, isListed: true, pulse: PULSE, refusal: null, isKeyKnown: true },
  ...wish,
});
const told = async (admin: RunningAdmin, agents: readonly AgentSeen[], query = "") => {
  admin.gtm.state.agents = agents;
  return (await admin.ask("GET", `/agents${query}`)).body;
};
const faultsOf = async (...agents: readonly AgentSeen[]): Promise<readonly string[]> => {
  await using admin = await runningAdmin();
  const { items } = await told(admin, agents);
  return items[0].faults.map(({ severity, id }: { severity: string; id: string }) => `${severity} ${id}`);
};

describe("GET /agents", () => {
  it("shows who reports, how often, in which version, and which engines it reads", async () => {
    await using admin = await runningAdmin();
    const report = {
      ...aReport("frankfurt", { mac: "signed", faults: [{ source: "dcgm", field: "page", code: "timed-out" }] }),
      agentVersion: "0.1.0",
      models: [
        aModelReport("frankfurt", {
          replicas: [{ ...aReplicaReport("frankfurt", 0), id: ReplicaId.parse("10.0.0.1:8000/0") }],
        }),
      ],
      readings: [{ engine: "vllm", addresses: ["10.0.0.1:8000"], fields: {} }],
    };
    report.faults.push({ source: "10.0.0.1:8000", field: "prefixHitFraction", code: "missing" });
    const { items, next_cursor, unreported } = await told(admin, [anAgent("frankfurt", "a1", { report })]);
    const [{ engines, otherFaults, faults, ...agent }] = items;
    assert.deepEqual(agent, {
      ...{ region: "frankfurt", agent: "a1", state: "reporting", version: "0.1.0", reportAgeMs: 400, gpus: 1 },
      ...{ lastReportAt: "2026-11-30T03:59:59.600Z", firstHeardAt: "2026-11-30T03:00:00.000Z", intervalMs: 1_000 },
      ...{ seq: 1, heardReports: 3_600, missedReports: 0, restarts: 0, clockAheadMs: 12 },
      ...{ signature: "verified", refused: null },
    });
    assert.deepEqual(engines, [
      {
        address: "10.0.0.1:8000",
        engine: "vllm",
        models: ["llama-70b"],
        faults: [{ source: "10.0.0.1:8000", field: "prefixHitFraction", code: "missing" }],
      },
    ]);
    assert.deepEqual(otherFaults, [{ source: "dcgm", field: "page", code: "timed-out" }]);
    assert.deepEqual([faults, next_cursor], [[], null]);
    assert.deepEqual(
      unreported.map(({ region, id }: { region: string; id: string }) => [region, id]),
      [
        ["paris", "region-unreported"],
        ["singapore", "region-unreported"],
      ],
    );
  });

  const silent = { report: null, reportAgeMs: null, pulse: null };
  const refusal = { count: 9, reason: "signature", detail: "the mac is missing or wrong", atMs: EPOCH_MS };
  const cases: readonly {
    readonly what: string;
    readonly agents: readonly AgentSeen[];
    readonly says: readonly string[];
  }[] = [
    { what: "is well", agents: [anAgent("paris", "p1")], says: [] },
    {
      what: "was last heard 12 s ago",
      agents: [anAgent("paris", "p1", { reportAgeMs: 12_000 })],
      says: ["warning agent-stale"],
    },
    {
      what: "is silent, the last of its region",
      agents: [anAgent("paris", "p1", silent)],
      says: ["problem agent-missing"],
    },
    {
      what: "is silent beside another",
      agents: [anAgent("paris", "p1", silent), anAgent("paris", "p2")],
      says: ["warning agent-missing"],
    },
    {
      what: "signs with another key",
      agents: [anAgent("paris", "p1", { ...silent, refusal: { ...refusal, isStanding: true } })],
      says: ["problem agent-refused"],
    },
    {
      what: "was refused once and is believed again",
      agents: [anAgent("paris", "p1", { refusal: { ...refusal, isStanding: false } })],
      says: [],
    },
    {
      what: "has a clock 90 s behind",
      agents: [anAgent("paris", "p1", { pulse: { ...PULSE, clockAheadMs: -90_000 } })],
      says: ["warning agent-clock"],
    },
    {
      what: "lost 1 000 of 4 600 reports",
      agents: [anAgent("paris", "p1", { pulse: { ...PULSE, missedReports: 1_000 } })],
      says: ["warning agent-gaps"],
    },
    {
      what: "shares its name with another process",
      agents: [anAgent("paris", "p1", { pulse: { ...PULSE, doubledAtMs: EPOCH_MS - 1_000 } })],
      says: ["problem agent-double"],
    },
    {
      what: "is of another version, and nobody verifies what it says",
      agents: [anAgent("paris", "p1", { isKeyKnown: false, report: { ...aReport("paris"), agentVersion: "0.0.9" } })],
      says: ["warning agent-version", "warning agent-unsigned"],
    },
  ];
  for (const { what, agents, says } of cases) {
    it(`says of an agent that ${what}: ${says.join(", ") || "nothing"}`, async () => {
      assert.deepEqual(await faultsOf(...agents), says);
    });
  }
  it("says of two agents that read one engine that it counts twice", async () => {
    assert.deepEqual(await faultsOf(anAgent("paris", "p1"), anAgent("paris", "p2")), ["problem agents-overlap"]);
  });
  it("pages, and filters by region", async () => {
    await using admin = await runningAdmin();
    const agents = [anAgent("frankfurt", "f1"), anAgent("paris", "p1"), anAgent("paris", "p2")];
    const names = ({ items }: { items: readonly { agent: string }[] }) => items.map(({ agent }) => agent);
    const first = await told(admin, agents, "?limit=2");
    assert.deepEqual([names(first), first.next_cursor], [["f1", "p1"], "paris/p1"]);
    const second = await told(admin, agents, `?limit=2&cursor=${encodeURIComponent(first.next_cursor)}`);
    assert.deepEqual([names(second), second.next_cursor], [["p2"], null]);
    assert.deepEqual(names(await told(admin, agents, "?region=paris")), ["p1", "p2"]);
    assert.equal((await admin.ask("GET", "/agents?region=nowhere")).status, 404);
  });
});

describe("gtm agents", () => {
  it("lists agents, then what is wrong with what mends it", async () => {
    await using admin = await runningAdmin({ regions: [aRegion("frankfurt"), aRegion("paris")] });
    admin.gtm.state.agents = [anAgent("frankfurt", "f1", { reportAgeMs: 12_000 })];
    const { exitCode, out, err } = await runCli(["agents", "--server", admin.url]);
    assert.equal(
      out,
      [
        "REGION     AGENT  STATE  REPORT AGE  EVERY  MISSED  REFUSED   CLOCK  VERSION  SIGNATURE  ENGINES",
        "frankfurt  f1     stale        12 s  1.0 s       0        0  +0.0 s  0.1.0    verified   unknown 1",
        "",
        "problem  No agent reports paris: it gets no conversation but by the last resort.",
        "  → Start one beside its engines with `region: paris` and this store: `edge-agent check --config FILE`, then `run`.",
        "warning  frankfurt/f1 was last heard 12 s ago: what it said is doubted.",
        "  → Look at its log: agents report each second, and say why where they cannot.",
        "",
      ].join("\n"),
    );
    assert.deepEqual([exitCode, err], [0, ""]);
  });
  it("of one region shows every engine, and as JSON lines an agent a line", async () => {
    await using admin = await runningAdmin();
    const report = aReport("paris", { faults: [{ source: "10.0.0.9:8000", field: "page", code: "timed-out" }] });
    admin.gtm.state.agents = [anAgent("paris", "p1", { report })];
    const { out } = await runCli(["agents", "--region", "paris", "--server", admin.url]);
    assert.match(out, /10\.0\.0\.9:8000 +unknown +page timed-out\n/);
    const { out: lines } = await runCli(["agents", "-o", "jsonl", "--server", admin.url]);
    assert.equal(JSON.parse(lines.trim()).agent, "p1");
  });
});
