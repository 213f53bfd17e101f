/** Where clients are said to be, and for whom an answer holds. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createGeoip, type GeoipOptions, type GeoRecord, locationOf } from "#gtm/datalayer/geoip.ts";
import { lastOf, parseSubnet } from "#gtm/datalayer/subnet.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";

const FRANKFURT = { latitude: 50.11, longitude: 8.68 };
const DENVER = { latitude: 39.74, longitude: -104.99 };
/** Another place of the same area. */
const DENVER_WEST = { latitude: 39.72, longitude: -105.1 };

const rangeOf = (first: string, last: string) => {
  const [from, to] = [parseSubnet(first), parseSubnet(last)];
  assert.ok(from && to);
  return { first: from.first, last: lastOf(to) };
};
const DATA: Readonly<Record<string, GeoRecord>> = {
  "198.51.100.0": { location: DENVER, country: "US", range: rangeOf("198.51.0.0/32", "198.51.127.255/32") },
  "8.8.8.0": { location: DENVER, country: "US", range: rangeOf("8.8.0.0/16", "8.8.0.0/16") },
  "9.9.9.0": { location: DENVER, country: null, range: rangeOf("9.9.9.0/26", "9.9.9.0/26") },
  // Five ranges in a row: Denver, Denver, Denver, Frankfurt, and Denver again.
  "11.0.0.0": { location: DENVER, country: "US", range: rangeOf("11.0.0.0/17", "11.0.0.0/17") },
  "11.0.127.255": { location: DENVER, country: "US", range: rangeOf("11.0.0.0/17", "11.0.0.0/17") },
  "11.0.128.0": { location: DENVER_WEST, country: "US", range: rangeOf("11.0.128.0/17", "11.0.128.0/17") },
  "11.0.255.255": { location: DENVER_WEST, country: "US", range: rangeOf("11.0.128.0/17", "11.0.128.0/17") },
  "11.1.0.0": { location: DENVER, country: "US", range: rangeOf("11.1.0.0/16", "11.1.0.0/16") },
  "11.2.0.0": { location: FRANKFURT, country: "DE", range: rangeOf("11.2.0.0/16", "11.2.0.0/16") },
  "11.3.0.0": { location: DENVER, country: "CA", range: rangeOf("11.3.0.0/16", "11.3.0.0/16") },
  "11.4.0.0": { location: DENVER, country: "US", range: rangeOf("11.4.0.0/16", "11.4.0.0/16") },
  "2a00:1450:4001::": { location: FRANKFURT, country: "DE", range: null },
};
const options = (wish: Partial<GeoipOptions> = {}): GeoipOptions => ({
  provider: "builtin",
  static: [],
  log: silentLogger,
  metrics: createMetrics(),
  load: async () => (address) => DATA[address] ?? null,
  ...wish,
});
const started = async (wish: Partial<GeoipOptions> = {}) => {
  const geoip = createGeoip(options(wish));
  await geoip.start();
  return geoip;
};

describe("a client that the data knows", async () => {
  const geoip = await started();
  it("is where the data says, its area rounded to half a degree", () => {
    assert.deepEqual(geoip.locate("8.8.8.8/32"), {
      subnet: "8.8.8.0/24",
      location: DENVER,
      area: "39.5,-105.0",
      place: "US",
      source: "geo",
      scopePrefixBits: 16,
    });
  });
  it("shares its answer with a /24 at the finest, though its range is smaller", () => {
    assert.equal(geoip.locate("9.9.9.0/24").scopePrefixBits, 24);
  });
  it("shares it with no more than it showed where IPv6 data has no ranges", () => {
    assert.equal(geoip.locate("2a00:1450:4001::/56").scopePrefixBits, 48);
    assert.equal(geoip.locate("2a00:1450:4001:800::/56").area, "50.0,8.5");
  });
  it("shares it with neighbours that are the same area and country, since they get the same answer", () => {
    assert.equal(geoip.locate("11.0.0.0/24").scopePrefixBits, 15);
    assert.equal(geoip.locate("11.0.128.0/24").scopePrefixBits, 15);
    assert.equal(geoip.locate("11.1.0.0/24").scopePrefixBits, 15);
  });
  it("does not share it with neighbours that are another place, or another country", () => {
    assert.equal(geoip.locate("11.2.0.0/24").scopePrefixBits, 16);
    assert.equal(geoip.locate("11.3.0.0/24").scopePrefixBits, 16);
    assert.equal(geoip.locate("11.4.0.0/24").scopePrefixBits, 16);
  });
  it("never shares it with a subnet that the operator has located himself", async () => {
    const own = { cidr: "11.0.200.0/24", location: FRANKFURT, name: null };
    assert.equal((await started({ static: [own] })).locate("11.1.0.0/24").scopePrefixBits, 16);
  });
  it("is the same client when its address comes mapped into IPv6", () => {
    assert.deepEqual(geoip.locate("::ffff:8.8.8.8"), geoip.locate("8.8.8.8"));
  });
});

describe("a client that nothing knows", async () => {
  const geoip = await started();
  const cases = [
    "192.0.2.0/24",
    "10.1.2.0/24",
    "127.0.0.0/24",
    "169.254.0.0/24",
    "100.64.0.0/24",
    "fd00::/48",
    "fe80::/48",
  ];
  for (const subnet of cases) {
    it(`${subnet} has no place, and an answer to it holds for what it showed`, () => {
      const client = geoip.locate(subnet);
      assert.deepEqual([client.location, client.area, client.place, client.source], [null, null, null, "unknown"]);
      assert.equal(client.scopePrefixBits, Number(subnet.split("/")[1]));
    });
  }
  it("holds for a /24 at the finest", () => assert.equal(geoip.locate("203.0.113.9/32").scopePrefixBits, 24));
  it("is not asked of the data where its address is private, whatever the data would say", async () => {
    const everywhere = await started({ load: async () => () => ({ location: DENVER, country: "US", range: null }) });
    assert.equal(everywhere.locate("10.1.2.0/24").source, "unknown");
  });
  it("is nobody in particular when its subnet is no network", () => {
    assert.deepEqual(geoip.locate("nonsense").scopePrefixBits, 0);
    assert.equal(geoip.locate("nonsense").source, "unknown");
  });
});

describe("the operator's own subnets", async () => {
  const own = [
    { cidr: "10.0.0.0/8", location: DENVER, name: "campus" },
    { cidr: "10.1.0.0/16", location: FRANKFURT, name: null },
    { cidr: "8.8.4.0/24", location: FRANKFURT, name: "branch" },
  ];
  const geoip = await started({ static: own });

  it("name the area", () => {
    const client = geoip.locate("10.9.0.0/24");
    assert.deepEqual([client.area, client.place, client.source], ["campus", "campus", "static"]);
  });
  it("are searched for the longest prefix", () => {
    assert.deepEqual(geoip.locate("10.1.2.0/24").location, FRANKFURT);
    assert.equal(geoip.locate("10.1.2.0/24").area, "50.0,8.5");
  });
  it("hold for the shortest prefix that no other of them lies in: 10.128.0.0/9 beside 10.1.0.0/16", () => {
    assert.equal(geoip.locate("10.200.0.0/24").scopePrefixBits, 9);
    assert.equal(geoip.locate("10.0.5.0/24").scopePrefixBits, 16);
    assert.equal(geoip.locate("10.1.2.0/24").scopePrefixBits, 16);
  });
  it("cut the scope of what surrounds them: 8.8.8.0/21 within 8.8.0.0/16 beside 8.8.4.0/24", () => {
    assert.equal(geoip.locate("8.8.8.0/24").scopePrefixBits, 21);
  });
  it("are located before the data is loaded, the others not yet", () => {
    const cold = createGeoip(options({ static: own }));
    assert.equal(cold.locate("10.9.0.0/24").source, "static");
    assert.equal(cold.locate("8.8.8.0/24").source, "unknown");
  });
});

describe("loading the data", () => {
  it("forgets what was not found before", async () => {
    const geoip = createGeoip(options());
    assert.equal(geoip.locate("8.8.8.0/24").source, "unknown");
    await geoip.start();
    assert.equal(geoip.locate("8.8.8.0/24").source, "geo");
  });
  it("does not happen where only static subnets are wanted", async () => {
    const load = async () => assert.fail("loaded");
    await started({ provider: "static", load });
  });
  it("fails without stopping the GTM: an error, a counter, and clients without a place", async () => {
    const [log, metrics] = [recordingLog(), createMetrics()];
    const geoip = await started({ log, metrics, load: () => Promise.reject(new Error("no such file")) });
    assert.equal(geoip.locate("8.8.8.0/24").source, "unknown");
    assert.deepEqual(
      log.lines.map(({ level, event }) => `${level} ${event}`),
      ["error geo.unavailable"],
    );
    assert.equal(await metricValue(metrics, "gtm_geo_load_failures_total"), 1);
  });
});

describe("coordinates", () => {
  const cases: readonly { ll: readonly [number | null, number | null]; is: unknown }[] = [
    { ll: [null, null], is: null },
    { ll: [0, 0], is: null },
    { ll: [50, null], is: null },
    { ll: [91, 0], is: null },
    { ll: [0, 8], is: { latitude: 0, longitude: 8 } },
  ];
  for (const { ll, is } of cases)
    it(`${ll.join(", ")} are ${is === null ? "none" : "a place"}`, () => assert.deepEqual(locationOf(ll), is));
  it("of the meridian of 180° have one name, and no zero has a sign", async () => {
    const at = async (latitude: number, longitude: number): Promise<string | null> =>
      (await started({ static: [{ cidr: "192.0.2.0/24", location: { latitude, longitude }, name: null }] })).locate(
        "192.0.2.0/24",
      ).area;
    assert.equal(await at(-0.1, -179.9), "0.0,180.0");
    assert.equal(await at(0.1, 179.9), "0.0,180.0");
  });
});

describe("a look-up", () => {
  it("is counted once a network, by where the location came from", async () => {
    const metrics = createMetrics();
    const geoip = await started({ metrics });
    for (let i = 0; i < 3; i++) geoip.locate("8.8.8.0/24");
    geoip.locate("192.0.2.0/24");
    assert.equal(await metricValue(metrics, "gtm_geo_lookups_total", { source: "geo" }), 1);
    assert.equal(await metricValue(metrics, "gtm_geo_lookups_total", { source: "unknown" }), 1);
  });
});
