import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Cells, StandingCell } from "#gtm/wire/dns/cells.ts";
import { emptyQuery } from "#gtm/wire/dns/dns-query.ts";
import { createPlaces } from "#gtm/wire/dns/places.ts";
import { createPrivateScope } from "#gtm/wire/dns/private-scope.ts";
import { readQuery } from "#gtm/wire/dns/query.ts";
import { aClient } from "#test/support/builders.ts";
import { queryOctets, subnetOption } from "#test/support/dns-client.ts";
import { CHAT } from "#test/support/dns-zone.ts";

const NAME = { index: 3, ipv4: CHAT, ipv6: null, hasHttps: false };

const setting = (scopePrefixBits = 20) => {
  const located: string[] = [];
  const entered: string[] = [];
  let renewed = 0;
  const cells: Cells = {
    enter: (_pool, client) => {
      entered.push(client.subnet);
      return { client } as StandingCell;
    },
    renew: () => {
      renewed += 1;
    },
    brief: ({ image }) => image,
    https: ({ image }) => image,
  };
  const places = createPlaces({
    locate: (subnet) => {
      located.push(subnet);
      return /^10\.|^fd00:/.test(subnet)
        ? aClient("paris", { subnet, source: "unknown", location: null, area: null, scopePrefixBits: 24 })
        : aClient("paris", { subnet, scopePrefixBits });
    },
    privateScope: createPrivateScope([]),
    cells,
  });
  const find = (peer: string, options: Buffer | null, family: 4 | 6 = 4) => {
    const query = emptyQuery();
    readQuery(queryOctets({ opt: options === null ? null : { options } }), query);
    query.peer = peer;
    const standing = places.find(query, NAME, family);
    return { subnet: standing?.client.subnet ?? null, scope: places.scopeBits() };
  };
  return { located, entered, find, renewed: () => renewed };
};

describe("where a query comes from", () => {
  const V6 = [0x20, 1, 0x0d, 0xb8, 0, 5, 0x77, 0x88];
  const CASES: readonly {
    readonly what: string;
    readonly peer?: string;
    readonly options: Buffer | null;
    readonly subnet: string;
    readonly scope: number;
  }[] = [
    { what: "without a client subnet the peer's network", options: null, subnet: "192.0.2.0/24", scope: 0 },
    { what: "an IPv6 peer's network", peer: "2001:db8:5:6::1", options: null, subnet: "2001:db8:5::/48", scope: 0 },
    { what: "the client subnet", options: subnetOption(1, 24, [198, 51, 100]), subnet: "198.51.100.0/24", scope: 20 },
    { what: "a shorter one as it is", options: subnetOption(1, 9, [198, 128]), subnet: "198.128.0.0/9", scope: 20 },
    {
      what: "a longer one cut to /24",
      options: subnetOption(1, 32, [198, 51, 100, 7]),
      subnet: "198.51.100.0/24",
      scope: 20,
    },
    { what: "an IPv6 one cut to /48", options: subnetOption(2, 64, V6), subnet: "2001:db8:5::/48", scope: 20 },
    {
      what: "an IPv6 one of /35",
      options: subnetOption(2, 35, [0x20, 1, 0x0d, 0xb8, 0x20]),
      subnet: "2001:db8:2000::/35",
      scope: 20,
    },
    { what: "with SOURCE 0 the peer's network", options: subnetOption(1, 0, []), subnet: "192.0.2.0/24", scope: 0 },
    {
      what: "with a private one the peer's network, for the block",
      options: subnetOption(1, 24, [10, 1, 2]),
      subnet: "192.0.2.0/24",
      scope: 8,
    },
    {
      what: "with a private IPv6 one too",
      options: subnetOption(2, 48, [0xfd, 0, 0, 0, 0, 1]),
      subnet: "192.0.2.0/24",
      scope: 7,
    },
  ];
  for (const { what, peer = "192.0.2.77", options, subnet, scope } of CASES) {
    it(`is ${what}`, () => assert.deepEqual(setting().find(peer, options), { subnet, scope }));
  }

  it("is located once, enters its cell once, and has it renewed from then on", () => {
    const { find, located, entered, renewed } = setting();
    for (let i = 0; i < 3; i++) find(`192.0.2.${i}`, subnetOption(1, 24, [198, 51, 100]));
    assert.deepEqual([located, entered, renewed()], [["198.51.100.0/24"], ["198.51.100.0/24"], 2]);
  });
  it("is not decided for where the subnet is private", () => {
    const { find, entered } = setting();
    find("192.0.2.1", subnetOption(1, 24, [10, 1, 2]));
    assert.deepEqual(entered, ["192.0.2.0/24"]);
    assert.deepEqual(
      find("10.1.2.9", null),
      { subnet: "10.1.2.0/24", scope: 0 },
      "unless the resolver itself is there",
    );
  });
  it("does not matter where the name has no addresses of the family", () => {
    const { find, located } = setting();
    assert.equal(find("192.0.2.1", null, 6).subnet, null);
    assert.deepEqual(located, []);
  });
  it("is kept apart by length: /16 and /24 of the same octets are two", () => {
    const { find, located } = setting();
    find("192.0.2.1", subnetOption(1, 24, [198, 51, 0]));
    find("192.0.2.1", subnetOption(1, 16, [198, 51]));
    assert.deepEqual(located, ["198.51.0.0/24", "198.51.0.0/16"]);
  });
  it("gives no scope beyond what is looked at", () => {
    assert.equal(setting(32).find("192.0.2.1", subnetOption(1, 32, [198, 51, 100, 7])).scope, 24);
    assert.equal(setting(64).find("192.0.2.1", subnetOption(2, 64, V6)).scope, 48);
  });
});
