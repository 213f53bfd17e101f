/** `dns.rate_limit`, `dns.tcp` and `dns.nsid` of the configuration. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseGtmConfig } from "#gtm/config.ts";
import { DEFAULT_LIMITS } from "#gtm/wire/dns/limit.ts";
import { houseYaml } from "#test/support/house.ts";

const dnsWith = (dns: object) => {
  const house = JSON.parse(houseYaml(() => "http://127.0.3.9:1"));
  const { rate_limit: _, ...rest } = house.dns;
  return parseGtmConfig(JSON.stringify({ ...house, dns: { ...rest, ...dns } }), "gtm.yaml", {}).dns;
};

describe("the limits of DNS in the configuration", () => {
  it("are 200 answers a second, slip 2, and nobody is exempt, where nothing is said", () => {
    const { rateLimit, tcp, nsid } = dnsWith({});
    assert.deepEqual(rateLimit, { perPrefixQps: 200, slip: 2, exempt: [] });
    assert.deepEqual({ ...DEFAULT_LIMITS, ...tcp }, DEFAULT_LIMITS);
    assert.equal(nsid, null);
  });
  it("are what is said", () => {
    const rate_limit = { per_prefix_qps: null, slip: 1, exempt: ["192.0.2.0/24"] };
    const { rateLimit, tcp, nsid } = dnsWith({
      rate_limit,
      tcp: { connections: 9, per_peer: 3, idle: "2s" },
      nsid: "gtm 1",
    });
    assert.deepEqual(rateLimit, { perPrefixQps: null, slip: 1, exempt: ["192.0.2.0/24"] });
    assert.deepEqual(tcp, { tcpConnections: 9, tcpConnectionsPerPeer: 3, tcpIdleMs: 2_000 });
    assert.equal(nsid, "gtm 1");
  });
  const cases: readonly (readonly [string, object, RegExp])[] = [
    ["a slip of 0, which would be silent for everyone", { rate_limit: { slip: 0 } }, /dns\.rate_limit\.slip: /],
    ["no answers at all", { rate_limit: { per_prefix_qps: 0 } }, /dns\.rate_limit\.per_prefix_qps: /],
    ["an exemption that is no network", { rate_limit: { exempt: ["here"] } }, /dns\.rate_limit\.exempt\.?\[?0\]?: /],
    ["an idle time without a unit", { tcp: { idle: 10 } }, /dns\.tcp\.idle: must be a duration/],
    ["an NSID that does not fit", { nsid: "x".repeat(65) }, /dns\.nsid: must be 1 to 64/],
  ];
  for (const [what, dns, says] of cases) {
    it(`are refused: ${what}`, () => {
      assert.throws(() => dnsWith(dns), { code: "GTM_CONFIG_INVALID", message: says });
    });
  }
});
