/** The law of names (RFC 1034 §4.3.2, RFC 4592, RFC 8020) on arbitrary zones: what is there, what a wildcard is for, what is given away. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { ZoneRecord } from "#gtm/domain/zone-record.ts";
import { zoneRecordsFaults } from "#gtm/domain/zone-records-faults.ts";
import { createAnswerer } from "#gtm/wire/dns/answerer.ts";
import { queryOctets, type Reply, readReply } from "#test/support/dns-client.ts";
import { aDnsSetting, answererOptions, ZONE } from "#test/support/dns-zone.ts";

const Z = ZONE.name;
const labels = fc.array(fc.constantFrom("a", "b", "d"), { minLength: 1, maxLength: 4 });
const name = fc
  .tuple(labels, fc.boolean())
  .map(([path, isWildcard]) => `${isWildcard ? "*." : ""}${path.join(".")}.${Z}`);
const record = fc.tuple(name, fc.constantFrom("A", "A", "TXT", "NS")).map(([owner, type]): ZoneRecord => {
  const value =
    type === "A"
      ? ({ type, address: "192.0.2.1" } as const)
      : type === "TXT"
        ? ({ type, texts: ["text"] } as const)
        : ({ type: "NS", host: "ns.example.net" } as const);
  return { name: owner, ttlSeconds: 60, value };
});
/** Those of arbitrary records that gtm check lets stand beside each other. */
const zone = fc.array(record, { maxLength: 10 }).map((wished) => {
  const records: ZoneRecord[] = [];
  for (const one of wished) {
    const more = [...records, one];
    if (zoneRecordsFaults({ zone: { ...ZONE, records: more }, pools: [] }).length === 0) records.push(one);
  }
  return records;
});

type Kind = "data" | "nodata" | "nxdomain" | "referral";

const parentsOf = (child: string): readonly string[] => {
  const above: string[] = [];
  for (let at = child; at !== Z; above.push(at)) at = at.slice(at.indexOf(".") + 1);
  return above;
};

/** By the words of the RFCs, on names as texts. */
const lawful = (records: readonly ZoneRecord[], asked: string): Kind => {
  const owners = (type: string) => records.filter(({ value }) => value.type === type).map((one) => one.name);
  const around = [asked, ...parentsOf(asked)];
  if (around.some((one) => owners("NS").includes(one))) return "referral";
  const existing = new Set(records.flatMap((one) => [one.name, ...parentsOf(one.name)]).concat(Z));
  const encloser = around.find((one) => existing.has(one)) ?? Z;
  const source = encloser === asked ? asked : `*.${encloser}`;
  if (!existing.has(source)) return "nxdomain";
  return owners("A").includes(source) ? "data" : "nodata";
};

const kindOf = ({ rcode, packet, octets }: Reply): Kind => {
  const isAuthoritative = ((octets[2] ?? 0) & 4) !== 0;
  if (rcode === 3) return "nxdomain";
  assert.equal(rcode, 0);
  if (!isAuthoritative) return "referral";
  return (packet.answers ?? []).length > 0 ? "data" : "nodata";
};

describe("a name of an arbitrary zone", () => {
  it("is answered by the law, whatever else is there", () =>
    fc.assert(
      fc.property(zone, fc.array(name, { minLength: 1, maxLength: 20 }), (records, asked) => {
        const { options } = aDnsSetting({ zone: { ...ZONE, records }, pools: [], models: [] });
        const step = createAnswerer(
          answererOptions({ ...options, rateLimit: { ...options.rateLimit, perPrefixQps: null } }),
        )("udp");
        const out = Buffer.alloc(1_232);
        for (const one of [...asked, ...records.map((owned) => owned.name)]) {
          const length = step(queryOctets({ name: one }), "192.0.2.7", out);
          assert.ok(typeof length === "number");
          assert.equal(kindOf(readReply(Buffer.from(out.subarray(0, length)))), lawful(records, one), one);
        }
      }),
      { numRuns: 300 },
    ));
});
