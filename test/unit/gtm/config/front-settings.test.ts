/** How the front door answers, in the configuration. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ticketWarnings } from "#gtm/config/ticket-warnings.ts";
import { parseGtmConfig } from "#gtm/config.ts";
import { aPool, aRegion } from "#test/support/builders.ts";
import { houseYaml } from "#test/support/house.ts";

const house = JSON.parse(houseYaml(() => "http://127.0.3.9:1"));
const parse = (change: object) => parseGtmConfig(JSON.stringify({ ...house, ...change }), "gtm.yaml", {});
const withHttp = (http: object) => parse({ http: { ...house.http, ...http } });
const withGateway = (change: object = {}) =>
  parse({ regions: house.regions.map((region: object) => ({ ...region, gateway: true })), ...change });

describe("the front door in the configuration", () => {
  it("redirects, without gateways, without TLS and without PROXY headers, where nothing is said", () => {
    const { pools, sites, http } = parse({});
    assert.deepEqual(
      pools.map(({ mode }) => mode),
      pools.map(() => "redirect"),
    );
    assert.ok(sites.every(({ hasGateway }) => !hasGateway));
    assert.deepEqual([http.tls, http.proxyProtocol, http.ticketHeaders], [null, false, []]);
  });
  it("has what is said", () => {
    const { http } = withHttp({
      tls: { cert_file: "/c", key_file: "/k" },
      proxy_protocol: true,
      trusted_proxies: ["127.0.0.1"],
      ticket_headers: ["X-Team-Token"],
    });
    assert.deepEqual(http.tls, { certFile: "/c", keyFile: "/k" });
    assert.deepEqual([http.proxyProtocol, http.ticketHeaders], [true, ["x-team-token"]]);
    const { sites } = withGateway({ keys: { ticket_file: "/t" } });
    assert.ok(sites.every(({ hasGateway }) => hasGateway));
  });
  for (const mode of ["redirect", "forward", "auto"]) {
    it(`has pools that ${mode}`, () => {
      assert.equal(parse({ pools: house.pools.map((pool: object) => ({ ...pool, mode })) }).pools[0]?.mode, mode);
    });
  }
  const faults: readonly (readonly [string, () => unknown, RegExp])[] = [
    ["a gateway without keys of tickets", () => withGateway(), /regions\[0\]\.gateway: .* needs keys\.ticket_file/],
    [
      "PROXY headers of anybody",
      () => withHttp({ proxy_protocol: true, trusted_proxies: [] }),
      /proxy_protocol: needs trusted_proxies/,
    ],
    ["half of TLS", () => withHttp({ tls: { cert_file: "/c" } }), /http\.tls\.key_file/],
    ["a ticket that carries the length", () => withHttp({ ticket_headers: ["Content-Length"] }), /proves who asks/],
    ["a ticket that carries no header", () => withHttp({ ticket_headers: ["a b"] }), /must be a header's name/],
    ["an unknown way", () => parse({ pools: [{ ...house.pools[0], mode: "proxy" }] }), /pools\[0\]\.mode/],
  ];
  for (const [what, act, says] of faults) {
    it(`is refused with ${what}`, () => assert.throws(act, { code: "GTM_CONFIG_INVALID", message: says }));
  }
});

describe("gtm check warns", () => {
  const open = aRegion("frankfurt", {
    hasGateway: true,
    endpoint: { url: "http://192.0.2.1", ipv4: [], ipv6: [] },
  });
  it("of tickets that travel without TLS, but not on loopback", () => {
    assert.match(ticketWarnings([], [open])[0] ?? "", /frankfurt: tickets travel to http:\/\/192\.0\.2\.1 without TLS/);
    const local = { ...open, endpoint: { ...open.endpoint, url: "http://127.0.0.1:8000" } };
    assert.deepEqual(ticketWarnings([], [local]), []);
  });
  it("of a pool that redirects to regions of which only some have a gateway", () => {
    const regions = [aRegion("frankfurt", { hasGateway: true }), aRegion("virginia")];
    assert.match(ticketWarnings([aPool(regions)], regions)[0] ?? "", /chat: credentials .* not virginia/);
    assert.deepEqual(ticketWarnings([aPool(regions, { mode: "forward" })], regions), []);
    assert.deepEqual(ticketWarnings([aPool(regions)], [aRegion("frankfurt"), aRegion("virginia")]), []);
  });
});
