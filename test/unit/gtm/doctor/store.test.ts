/** What the doctor says of a store: each finding where it belongs, and none of them of a healthy one. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Finding } from "#gtm/doctor/finding.ts";
import { accessFindings } from "#gtm/doctor/store-access.ts";
import { clockFindings } from "#gtm/doctor/store-clock.ts";
import { clusterFindings } from "#gtm/doctor/store-cluster.ts";
import { durabilityFindings } from "#gtm/doctor/store-durability.ts";
import { memoryFindings } from "#gtm/doctor/store-memory.ts";
import { type RedisFacts, reachFindings } from "#gtm/doctor/store-reach.ts";
import { sentinelFindings } from "#gtm/doctor/store-sentinels.ts";
import type { AwayCause } from "#shared/store-redis-facts-away.ts";
import type { MemoryFacts, PersistenceFacts, ReplicationFacts } from "#shared/store-redis-facts-info.ts";
import { aSentinel, aServer, faultsIn, severitiesIn, storeFacts } from "#test/support/doctor-builders.ts";

const findingsOf = (facts: RedisFacts): readonly Finding[] => [
  ...reachFindings(facts),
  ...sentinelFindings(facts.sentinels),
  ...clusterFindings(facts),
  ...accessFindings(facts),
  ...memoryFindings(facts),
  ...durabilityFindings(facts),
  ...clockFindings(facts),
];
const withMemory = (wish: Partial<MemoryFacts>) => {
  const server = aServer();
  assert.ok(server.memory);
  return storeFacts([aServer({ memory: { ...server.memory, ...wish } })]);
};
const withReplication = (wish: Partial<ReplicationFacts>, disk: Partial<PersistenceFacts> = {}) => {
  const { replication, persistence } = aServer();
  assert.ok(replication && persistence);
  return storeFacts([aServer({ replication: { ...replication, ...wish }, persistence: { ...persistence, ...disk } })]);
};
const away = (cause: AwayCause) => ({ cause, detail: "what was said" });
const withSentinels = (...each: readonly ReturnType<typeof aSentinel>[]) =>
  storeFacts([aServer()], { topology: "sentinel", sentinels: { name: "gtm", each } });
const three = [aSentinel(), aSentinel({ place: "192.0.2.12:26379" }), aSentinel({ place: "192.0.2.13:26379" })];
const withCluster = (
  slots: readonly number[],
  wish: { readonly gone?: number; readonly state?: string | null } = {},
): RedisFacts =>
  storeFacts(
    slots.map((count, at) =>
      aServer({ slots: count, isClusterNode: true, away: at === wish.gone ? away("refused") : null }),
    ),
    {
      topology: "cluster",
      cluster: {
        assignedSlots: slots.reduce((sum, count) => sum + count, 0),
        state: wish.state === undefined ? "ok" : wish.state,
        why: wish.state === null ? "NOPERM" : null,
      },
      away: null,
    },
  );

describe("a healthy store", () => {
  const healthy: readonly (readonly [string, RedisFacts])[] = [
    ["of one server", storeFacts([aServer()])],
    ["under three Sentinels", withSentinels(...three)],
    ["that is a Cluster", withCluster([8_192, 8_192])],
    [
      "on this host, without TLS and passwords",
      storeFacts([aServer({ isOpenToAll: true })], { isTls: false, isLoopback: true }),
    ],
  ];
  for (const [name, facts] of healthy) {
    it(`${name} is in order, and nothing is to be done`, () => {
      const findings = findingsOf(facts);
      assert.deepEqual([...severitiesIn(findings)], ["ok"]);
      assert.ok(findings.every(({ remedy }) => remedy === null));
    });
  }
});

const cases: readonly (readonly [when: string, facts: RedisFacts, faults: readonly string[], says: RegExp])[] = [
  [
    "nobody answers",
    storeFacts([aServer({ away: away("refused") })]),
    ["problem store-away"],
    /192\.0\.2\.1:6379 is away: nobody listens there \(what was said\)\.$/,
  ],
  [
    "no server was found at all",
    storeFacts([], { away: away("no-primary") }),
    ["problem store-away"],
    /rediss:\/\/gtm@192/,
  ],
  [
    "a replica is away",
    storeFacts([aServer(), aServer({ place: "192.0.2.2:6379", isExpected: false, away: away("timeout") })]),
    ["warning store-replica-away"],
    /192\.0\.2\.2/,
  ],
  [
    "it takes 24 ms",
    storeFacts([aServer({ roundTripMs: 24 })]),
    ["warning store-slow"],
    /24 ms; a DNS answer waits 10 ms/,
  ],
  [
    "it takes 120 ms",
    storeFacts([aServer({ roundTripMs: 120 })]),
    ["problem store-slow"],
    /120 ms; no answer waits longer than 50 ms/,
  ],
  [
    "it is Redis 6.0",
    storeFacts([aServer({ version: "6.0.16" })]),
    ["warning store-too-old"],
    /6\.0\.16.*6\.2 is the oldest/,
  ],
  ["it is Redis 4", storeFacts([aServer({ version: "4.0.9" })]), ["warning store-too-old"], /decisions cannot be kept/],
  [
    "it is a replica",
    withReplication({ role: "replica", replicas: [{ place: "x:1", state: "online", lagSeconds: 0 }] }),
    ["problem store-not-primary"],
    /refuses every write/,
  ],
  [
    "it is part of a Cluster",
    storeFacts([aServer({ isClusterNode: true })]),
    ["problem store-is-cluster-node"],
    /part of a Cluster/,
  ],
  [
    "it turned clients away",
    storeFacts([aServer({ rejectedConnections: 7 })]),
    ["warning store-rejected-connections"],
    /turned away 7 connections/,
  ],
  [
    "it is far away and not encrypted",
    storeFacts([aServer()], { isTls: false }),
    ["warning store-unencrypted"],
    /not encrypted/,
  ],
  [
    "it asks nobody for a password",
    storeFacts([aServer({ isOpenToAll: true })]),
    ["problem store-open-to-all"],
    /without a password/,
  ],
  ["that is not known", storeFacts([aServer({ isOpenToAll: null })]), ["unknown store-open-to-all"], /is not known/],
  [
    "the user may not do two things",
    storeFacts([aServer({ user: { name: "gtm", refused: ["SET a", "GET b"], writeFault: null } })]),
    ["problem store-permissions"],
    /The user gtm may not do at 192\.0\.2\.1:6379: SET a, GET b\.$/,
  ],
  [
    "what the user may is not known",
    storeFacts([aServer({ user: null, why: { user: "silence" } })]),
    ["unknown store-permissions"],
    /silence/,
  ],
  [
    "it takes no writes",
    storeFacts([aServer({ user: { name: null, refused: [], writeFault: "MISCONF Errors writing to disk" } })]),
    ["problem store-refuses-writes"],
    /MISCONF/,
  ],
  [
    "it has no limit of memory",
    withMemory({ maxBytes: 0 }),
    ["warning store-memory-unlimited"],
    /8\.0 GB of its machine/,
  ],
  [
    "it is nearly full",
    withMemory({ usedBytes: 950_000_000 }),
    ["warning store-nearly-full"],
    /950\.0 MB of its maxmemory of 1\.0 GB/,
  ],
  ["it is full", withMemory({ usedBytes: 1_000_000_001 }), ["problem store-full"], /refuses writes/],
  ["it evicted keys before", withMemory({ evictedKeys: 5 }), ["warning store-evicted-keys"], /evicted 5 keys/],
  [
    "its memory is not known",
    storeFacts([aServer({ memory: null, why: { info: "NOPERM" } })]),
    ["unknown store-memory"],
    /NOPERM/,
  ],
  [
    "it keeps messages without limit",
    storeFacts([aServer({ channelLimit: { hardBytes: 0, softBytes: 0, softSeconds: 0 } })]),
    ["warning store-buffers-unlimited"],
    /without limit/,
  ],
  [
    "nothing survives it",
    withReplication({ replicas: [] }),
    ["warning store-volatile"],
    /no replica and no append-only file and makes no snapshots/,
  ],
  [
    "that is not known",
    withReplication({ replicas: [] }, { savesSnapshots: null }),
    ["unknown store-survives"],
    /is not known/,
  ],
  [
    "its last snapshot failed",
    withReplication({}, { isLastSnapshotGood: false }),
    ["warning store-snapshot-failed"],
    /snapshot failed/,
  ],
  [
    "its log cannot be written",
    withReplication({}, { writesLog: true, isLastLogWriteGood: false }),
    ["warning store-log-failed"],
    /append-only/,
  ],
  [
    "its replica is 25 s late",
    withReplication({ replicas: [{ place: "x:1", state: "online", lagSeconds: 25 }] }),
    ["warning store-replica-late"],
    /x:1 is online and acknowledged 25 s ago/,
  ],
  [
    "it has too few replicas to write",
    withReplication({ leastReplicas: 2 }),
    ["warning store-too-few-replicas"],
    /with 2 replicas, and has 1/,
  ],
  [
    "the clocks are 5 s apart",
    storeFacts([aServer({ clock: { aheadMs: -5_000, errorMs: 1 } })]),
    ["warning clock-skew"],
    /5\.0 s ahead of/,
  ],
  [
    "the clocks are an hour apart",
    storeFacts([aServer({ clock: { aheadMs: 3_600_000, errorMs: 1 } })]),
    ["problem clock-skew"],
    /60 min behind/,
  ],
  [
    "the clock may not be asked",
    storeFacts([aServer({ clock: null, why: { clock: "NOPERM" } })]),
    ["unknown clock-skew"],
    /NOPERM/,
  ],
  [
    "a Sentinel is away",
    withSentinels(aSentinel({ away: away("refused"), primary: null, hasQuorum: null }), ...three),
    ["warning sentinel-away"],
    /what was said/,
  ],
  [
    "the Sentinels name two primaries",
    withSentinels(...three, aSentinel({ primary: "192.0.2.9:6379" })),
    ["problem sentinels-disagree"],
    /2 primaries for gtm: 192\.0\.2\.1:6379 and 192\.0\.2\.9:6379/,
  ],
  [
    "a Sentinel knows nobody",
    withSentinels(...three, aSentinel({ primary: null, quorumSays: "knows none" })),
    ["warning sentinel-ignorant"],
    /knows none/,
  ],
  [
    "no failover has a quorum",
    withSentinels(...three.slice(1), aSentinel({ hasQuorum: false, quorumSays: "NOQUORUM 1 usable Sentinels." })),
    ["problem sentinels-no-quorum"],
    /NOQUORUM/,
  ],
  [
    "the quorum may not be asked",
    withSentinels(...three.map((one) => ({ ...one, hasQuorum: null, quorumSays: "NOPERM" }))),
    ["unknown sentinels-quorum"],
    /NOPERM/,
  ],
  ["there is one Sentinel", withSentinels(aSentinel()), ["warning sentinels-few"], /names 1 Sentinel/],
  [
    "a Cluster lost a primary",
    withCluster([8_192, 8_192], { gone: 1 }),
    ["problem store-away", "problem cluster-slots-lost"],
    /8 192 of 16 384 slots are lost/,
  ],
  [
    "a Cluster has slots that nobody has",
    withCluster([16_000]),
    ["problem cluster-slots-lost"],
    /384 of 16 384 slots.*nobody has them/,
  ],
  ["a Cluster fails", withCluster([16_384], { state: "fail" }), ["problem cluster-down"], /its state is fail/],
  ["a Cluster's state may not be asked", withCluster([16_384], { state: null }), ["unknown cluster-state"], /NOPERM/],
];

describe("a store of which", () => {
  for (const [when, facts, faults, says] of cases) {
    it(`${when} has ${faults.join(", ")}`, () => {
      const findings = findingsOf(facts);
      assert.deepEqual(faultsIn(findings), faults);
      const amiss = findings.filter(({ severity }) => severity !== "ok");
      assert.ok(
        amiss.some(({ what }) => says.test(what)),
        amiss.map(({ what }) => what).join("\n"),
      );
      assert.ok(amiss.every(({ severity, remedy }) => severity === "unknown" || remedy !== null));
    });
  }
});

describe("Sentinels that refuse the password", () => {
  it("want their own, and not that of the store", () => {
    const sentinels = { name: "gtm", each: [aSentinel({ away: away("wrong-password"), primary: null })] };
    const facts = storeFacts([], { topology: "sentinel", sentinels, away: away("wrong-password") });
    const remedies = findingsOf(facts).filter(({ id }) => id === "store-away" || id === "sentinel-away");
    assert.equal(remedies.length, 2);
    for (const { remedy } of remedies) assert.match(remedy ?? "", /store\.sentinel_password_file/);
  });
});

describe("a clock that is 1.2 s off", () => {
  const at = (errorMs: number) => clockFindings(storeFacts([aServer({ clock: { aheadMs: 1_200, errorMs } })]));
  it("is told of where the way there takes less", () => assert.deepEqual(faultsIn(at(100)), ["warning clock-skew"]));
  it("is not where the way there may account for it", () => assert.deepEqual(faultsIn(at(300)), []));
});

describe("when memory is full", () => {
  const dropping = (policy: string) => {
    const [finding] = memoryFindings(withMemory({ policy, evictedKeys: 12 }));
    assert.ok(finding);
    return finding;
  };
  for (const policy of ["allkeys-lru", "allkeys-lfu", "allkeys-random"]) {
    it(`${policy} drops pins and orders`, () => {
      const { id, severity, what } = dropping(policy);
      assert.deepEqual([id, severity], ["store-evicts-pins", "problem"]);
      assert.match(what, /pins, reports and operators' orders .*800\.0 MB of 1\.0 GB are left, 12 keys evicted so far/);
    });
  }
  for (const policy of ["volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"]) {
    it(`${policy} drops pins, which have a time to live`, () => {
      const { id, what } = dropping(policy);
      assert.equal(id, "store-evicts-pins");
      assert.match(what, /drops pins and reports in silence/);
    });
  }
  it("noeviction has room for so many conversations", () => {
    assert.match(dropping("noeviction").what, /room for 2\.0 M conversations/);
  });
});
