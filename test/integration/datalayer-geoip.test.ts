/** The data that geoip-lite brings, through the one door to it. */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createGeoip } from "#gtm/datalayer/geoip.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";

describe("the built-in geography data", () => {
  const geoip = createGeoip({ provider: "builtin", static: [], log: silentLogger, metrics: createMetrics() });
  before(() => geoip.start());

  it("places an IPv4 network, with a scope from the range it lies in", () => {
    const client = geoip.locate("185.60.216.0/24");
    assert.deepEqual([client.source, client.place], ["geo", "IE"]);
    assert.ok(client.scopePrefixBits >= 8 && client.scopePrefixBits <= 24);
  });
  it("places an IPv6 network, with what it showed as scope", () => {
    const client = geoip.locate("2a00:1450:4001::/56");
    assert.deepEqual([client.source, client.place, client.area, client.scopePrefixBits], ["geo", "DE", "50.0,8.5", 48]);
  });
  it("knows no place of documentation, private, loopback and shared addresses", () => {
    for (const subnet of [
      "192.0.2.0/24",
      "10.0.0.0/24",
      "127.0.0.0/24",
      "100.64.0.0/24",
      "2001:db8::/48",
      "fd00::/48",
    ]) {
      assert.equal(geoip.locate(subnet).source, "unknown", subnet);
    }
  });
  it("never yields a place that is no place, over a sample of all IPv4 networks", () => {
    for (let network = 1; network < 2 ** 24; network += 1_009) {
      const client = geoip.locate(`${network >>> 16}.${(network >>> 8) & 255}.${network & 255}.0/24`);
      assert.ok(client.scopePrefixBits >= 0 && client.scopePrefixBits <= 24);
      if (client.location === null) continue;
      assert.ok(Math.abs(client.location.latitude) <= 90 && Math.abs(client.location.longitude) <= 180);
      assert.match(client.area ?? "", /^-?\d+\.[05],-?\d+\.[05]$/);
    }
  });
});
