import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GatewayConfig } from "#edge-agent/gateway/config.ts";
import { hopIn } from "#edge-agent/gateway/hops.ts";

const least = {
  ...{ version: 1, region: "paris", gateway: "g1", zone: "llm.example.org", store: { url: "memory:" } },
  listen: [{ address: "0.0.0.0:80", tls: false }],
  engines: [{ url: "http://10.0.0.5:8000" }],
};
const faultsOf = (change: object): readonly string[] =>
  GatewayConfig.safeParse({ ...least, ...change }).error?.issues.map(
    ({ path, message }) => `${path.join(".")}: ${message}`,
  ) ?? [];

describe("the gateway's configuration", () => {
  it("needs no more than who it is, where it listens and which engines there are", () => {
    const { limits, drain, paths, metrics } = GatewayConfig.parse(least);
    assert.deepEqual(paths, ["/v1"]);
    assert.equal(limits.replay, 1_048_576);
    assert.deepEqual(drain, { linger: 10_000, deadline: 300_000 });
    assert.equal(metrics.listen, "127.0.0.1:9155");
  });

  const cases: readonly { what: string; change: object; fault: RegExp }[] = [
    {
      what: "TLS without a certificate",
      change: { listen: [{ address: "0.0.0.0:443" }] },
      fault: /^tls: an address with tls needs a certificate/,
    },
    {
      what: "half of the label keys",
      change: { keys: { identity_file: "a" } },
      fault: /^keys\.identity_file: .*belong together/,
    },
    {
      what: "an engine twice",
      change: { engines: [least.engines[0], { url: "http://10.0.0.5:8000/" }] },
      fault: /^engines: an engine stands here twice/,
    },
    {
      what: "a router beside an engine",
      change: { engines: [least.engines[0], { url: "http://10.0.0.9:80", router: true }] },
      fault: /^engines: a router stands alone/,
    },
    { what: "an engine with a path", change: { engines: [{ url: "http://a/v1" }] }, fault: /must be an origin/ },
    {
      what: "an engine with a credential",
      change: { engines: [{ url: "http://a:b@c" }] },
      fault: /must not hold a credential/,
    },
    {
      what: "a linger beyond the deadline",
      change: { drain: { linger: "2m", deadline: "1m" } },
      fault: /^drain\.linger: must not be longer/,
    },
    { what: "a network that is none", change: { proxy_protocol: ["10.0.0.1"] }, fault: /must be a network/ },
    { what: "an unknown key", change: { colour: "red" }, fault: /colour/ },
  ];
  for (const { what, change, fault } of cases) {
    it(`is refused with ${what}`, () => assert.match(faultsOf(change).join("\n"), fault));
  }
});

describe("a hop header", () => {
  it("is a count from 0 to 2; what is none counts as the last hop", () => {
    assert.deepEqual([null, "0", "1", "2", "3", "-1", "", "1, 2"].map(hopIn), [0, 0, 1, 2, 2, 2, 2, 2]);
  });
});
