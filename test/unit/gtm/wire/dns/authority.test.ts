import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAuthority } from "#gtm/wire/dns/authority.ts";
import { emptyQuery } from "#gtm/wire/dns/dns-query.ts";
import { hashName } from "#gtm/wire/dns/name.ts";
import { readQuery } from "#gtm/wire/dns/query.ts";
import type { ZoneName } from "#gtm/wire/dns/zone-names.ts";
import { nameOctets, queryOctets } from "#test/support/dns-client.ts";

const NAMES = ["gslb.example", "chat.gslb.example", "c.gslb.example", "r.gslb.example"];
const zoneNames = new Map<string, ZoneName>(
  NAMES.map((name) => [name, { fixed: new Map(), other: null, steered: null, isCut: false, below: null }]),
);
const authority = createAuthority("gslb.example", zoneNames, true);

const find = (name: string): string => {
  const query = emptyQuery();
  readQuery(queryOctets({ name }), query);
  const target = authority.find(query);
  switch (target.kind) {
    case "known":
      return NAMES.find((one) => zoneNames.get(one) === target.name) ?? "another";
    case "label":
      return `label ${target.label}`;
    case "why":
      return target.of.kind === "known" ? "why known" : `why label ${target.of.label}`;
    case "missing":
    case "outside":
      return target.kind;
  }
};

describe("a name asked for", () => {
  const CASES: readonly (readonly [name: string, is: string])[] = [
    ["gslb.example", "gslb.example"],
    ["chat.gslb.example", "chat.gslb.example"],
    ["CHAT.gslb.EXAMPLE", "chat.gslb.example"],
    ["c.gslb.example", "c.gslb.example"],
    ["abc.c.gslb.example", "label abc"],
    ["P1ABC.C.gslb.example", "label p1abc"],
    ["why.c.gslb.example", "label why"],
    ["x.abc.c.gslb.example", "missing"],
    // No conversation: a certificate for *.c is asked for there.
    ["_acme-challenge.c.gslb.example", "missing"],
    ["_ACME-Challenge.c.gslb.example", "missing"],
    ["_acme-challenges.c.gslb.example", "label _acme-challenges"],
    ["_acme-challenge.abc.c.gslb.example", "missing"],
    ["why._acme-challenge.c.gslb.example", "missing"],
    ["nope.gslb.example", "missing"],
    ["x.chat.gslb.example", "missing"],
    ["why.gslb.example", "why known"],
    ["why.chat.gslb.example", "why known"],
    ["why.abc.c.gslb.example", "why label abc"],
    ["why.nope.gslb.example", "missing"],
    ["why.why.chat.gslb.example", "missing"],
    ["example", "outside"],
    ["xgslb.example", "outside"],
    ["chat.gslb.example.org", "outside"],
    ["", "outside"],
  ];
  for (const [name, is] of CASES) it(`"${name}" is ${is}`, () => assert.equal(find(name), is));
});

describe("a conversation's label", () => {
  it("is the same object when it is asked for again, in whatever case: no string is made of it", () => {
    const targetOf = (name: string) => {
      const query = emptyQuery();
      readQuery(queryOctets({ name }), query);
      return authority.find(query);
    };
    assert.equal(targetOf("p1abc.c.gslb.example"), targetOf("P1aBC.c.gslb.example"));
  });

  it("is not taken for another whose name has the same hash", () => {
    const hashOf = (label: string) => {
      const octets = nameOctets(label);
      return hashName(octets, 0, octets.length - 1);
    };
    const seen = new Map<number, string>();
    let pair: readonly string[] | null = null;
    for (let i = 0; pair === null; i++) {
      const label = `p1${i.toString(36)}`;
      const other = seen.get(hashOf(label));
      if (other !== undefined) pair = [other, label];
      seen.set(hashOf(label), label);
    }
    for (const label of [...pair, ...pair]) assert.equal(find(`${label}.c.gslb.example`), `label ${label}`);
  });
});
