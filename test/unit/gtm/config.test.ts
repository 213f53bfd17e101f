/** What the GTM's configuration accepts, and that it names everything that is wrong with it at once. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parseGtmConfig } from "#gtm/config.ts";
import { DEFAULT_SAFETY } from "#gtm/domain/safety-limits.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { OperationalError } from "#shared/errors.ts";

const EXAMPLE = readFileSync("deploy/config/gtm.yaml", "utf8");
const parse = (text: string) => parseGtmConfig(text, "gtm.yaml", { HOSTNAME: "gtm-1" });
const faultsIn = (text: string): readonly string[] => {
  try {
    parse(text);
  } catch (error) {
    assert.ok(error instanceof OperationalError && error.code === "GTM_CONFIG_INVALID");
    return error.message.split("\n");
  }
  return [];
};
/** As the example has it, which takes it from the environment where that says one. */
const [STORE_URL = ""] = /url: "[^"]*memory:[^"]*"/.exec(EXAMPLE) ?? [];
const changed = (...changes: readonly (readonly [string, string])[]): string =>
  changes.reduce((text, [from, to]) => {
    assert.ok(text.includes(from), `the example has "${from}"`);
    return text.replace(from, to);
  }, EXAMPLE);

describe("the example configuration", () => {
  const config = parse(EXAMPLE);
  it("describes two regions, their pool and how they are probed", () => {
    assert.deepEqual(
      config.sites.map(({ id }) => id),
      ["eu-central", "us-east"],
    );
    assert.deepEqual(
      config.pools.map(({ name, regions }) => [name, regions]),
      [["chat", ["eu-central", "us-east"]]],
    );
    assert.deepEqual(config.probes[0], {
      region: "eu-central",
      url: "https://192.0.2.10/healthz",
      host: "eu-central.r.llm.example.com",
      intervalMs: 1_000,
      timeoutMs: 800,
      fall: 3,
      rise: 2,
    });
  });
  it("leaves the policy as it is built in", () => assert.deepEqual(config.policy, DEFAULT_POLICY));
  it("gives a region the zone's name for it where no URL is set", () => {
    assert.equal(config.sites[1]?.endpoint.url, "https://us-east.r.llm.example.com");
  });
});

describe("a policy in the configuration", () => {
  it("replaces what it names, in the units it is written in", () => {
    const { policy } = parse(
      changed(["policy: {}", "policy: { margin: 80ms, margin_fraction: 0.2, ttl_steady: 30s }"]),
    );
    assert.deepEqual(policy, { ...DEFAULT_POLICY, marginMs: 80, marginFraction: 0.2, ttlSteadySeconds: 30 });
  });
});

describe("safety rules in the configuration", () => {
  const config = parse(EXAMPLE);
  const given = (safety: string) => parse(EXAMPLE.replace(/^safety:\n(?: {2}.*\n)+/m, `safety: ${safety}\n`)).safety;
  it("are as they are built in where nothing is said, and the example says just that", () => {
    assert.deepEqual(given("{}"), DEFAULT_SAFETY);
    assert.deepEqual(config.safety, DEFAULT_SAFETY);
  });
  it("are limits of an order, each in its unit, or off", () => {
    assert.deepEqual(given("{ min_active_regions: 2, min_regions_per_model: 0, cooldown: 5m }"), {
      ...DEFAULT_SAFETY,
      ...{ minActiveRegions: 2, minRegionsPerModel: 0, cooldownMs: 300_000 },
    });
    assert.equal(given("{ max_used_after_drain_fraction: null }").maxUsedAfterDrainFraction, null);
  });
  const faults: readonly (readonly [string, RegExp])[] = [
    ["{ min_active_regions: 9 }", /safety\.min_active_regions: must be at most 2, as many regions are configured/],
    ["{ min_regions_per_model: 1.5 }", /safety\.min_regions_per_model: must be a whole number/],
    [
      "{ max_used_after_drain_fraction: 95 }",
      /safety\.max_used_after_drain_fraction: must be a fraction from 0\.05 to 1, or null/,
    ],
    ["{ cooldown: 60 }", /safety\.cooldown: must be a duration with its unit/],
    ["{ cooldown: 2h }", /safety\.cooldown: must be at most 1h/],
    ["{ cool_down: 60s }", /safety\.cool_down|cool_down/],
  ];
  for (const [safety, says] of faults) {
    it(`are refused as ${safety}`, () => assert.throws(() => given(safety), { message: says }));
  }
});

describe("a configuration with ten faults", () => {
  const faults = faultsIn(
    changed(
      ["version: 1", "version: 2"],
      ['listen: ["0.0.0.0:53", "[::]:53"]', 'listen: ["0.0.0.0"]'],
      ["lat: 50.11", "lat: 150.11"],
      ["interval: 1s", "interval: 1"],
      ["weight_bytes: 141 GB", "weight_bytes: 141 pounds"],
      ["name: chat", "name: front"],
      ["policy: {}", "policy: { marginn: 50ms }"],
      ['listen: "127.0.0.1:9443"', 'listen: "0.0.0.0:9443"'],
      ["provider: builtin", "provider: builtout"],
    ),
  );
  it("names all ten, each with file, line and column, in the order of the lines", () => {
    for (const fault of faults) assert.match(fault, /^gtm\.yaml:\d+:\d+: [a-z]/);
    assert.deepEqual(
      faults.map((fault) => fault.split(": ")[1]),
      [
        "version",
        "dns.listen[0]",
        // The pool that is called front now was the default.
        "http.default_pool",
        "admin.listen",
        "regions[0].location.lat",
        "regions[0].probe.interval",
        "models[0].weight_bytes",
        "pools[0].name",
        "policy.marginn",
        "geo.provider",
      ],
    );
  });
});

describe("parts of a configuration that do not fit together", () => {
  const cases: readonly { what: string; change: readonly [string, string]; says: RegExp }[] = [
    {
      what: "a default pool that is none",
      change: ["default_pool: chat # of names", "default_pool: other # of names"],
      says: /dns\.default_pool: no pool is called other/,
    },
    {
      what: "a pool with an unknown region",
      change: ["regions: [eu-central, us-east]", "regions: [eu-central, us-west]"],
      says: /pools\[0\]\.regions\[1\]: no region is called us-west/,
    },
    {
      what: "a pool with a reserved name",
      change: ["name: chat", "name: ns7"],
      says: /ns7 is a name that the zone needs for itself/,
    },
    {
      what: "two name servers on one address",
      change: ["a: [198.51.100.2]", "a: [198.51.100.1]"],
      says: /share the address 198\.51\.100\.1/,
    },
    { what: "a region twice", change: ["id: us-east", "id: eu-central"], says: /eu-central stands here twice/ },
    {
      what: "an admin API for everybody",
      change: ['listen: "127.0.0.1:9443"', 'listen: "0.0.0.0:9443"'],
      says: /admin\.listen: must be a loopback address/,
    },
    {
      what: "a kind of store that there is not",
      change: [STORE_URL, 'url: "postgres://localhost"'],
      says: /store\.url: must be memory:, redis:/,
    },
    {
      what: "a certificate authority without TLS",
      change: [STORE_URL, 'url: "redis://localhost"\n  ca_file: /etc/ca.pem'],
      says: /store\.ca_file: has no use without TLS/,
    },
    {
      what: "a subnet with a zone index",
      change: ["cidr: 10.1.0.0/16", 'cidr: "fe80::1%eth0/64"'],
      says: /geo\.static\[0\]\.cidr: must be a network/,
    },
    {
      what: "geography data that this version cannot read",
      change: ["provider: builtin", "provider: mmdb"],
      says: /geo\.provider: expected one of "builtin"\|"static"/,
    },
    { what: "an unknown key", change: ["log:", "logg:"], says: /logg/ },
  ];
  for (const { what, change, says } of cases) {
    it(`are refused: ${what}`, () => assert.match(faultsIn(changed(change)).join("\n"), says));
  }
});

describe("a pool's steering", () => {
  const steeringOf = (text: string) => parse(text).pools.map(({ steering }) => steering);
  it("is enforced where nothing is said, and may be in shadow", () => {
    assert.deepEqual(steeringOf(EXAMPLE), ["enforce"]);
    assert.deepEqual(steeringOf(changed(["    steering: enforce", "    #"])), ["enforce"]);
    assert.deepEqual(steeringOf(changed(["steering: enforce", "steering: shadow"])), ["shadow"]);
  });
  it("is a fault where it is something else", () => {
    assert.match(faultsIn(changed(["steering: enforce", "steering: maybe"])).join("\n"), /steering/);
  });
});
