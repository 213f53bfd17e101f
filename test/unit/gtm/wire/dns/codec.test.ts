import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Answer, decode, type TxtAnswer } from "dns-packet";
import { type DnsRecord, encodeImage } from "#gtm/wire/dns/codec.ts";
import type { RecordData } from "#gtm/wire/dns/record-data.ts";
import { queryOctets } from "#test/support/dns-client.ts";

/** What dns-packet reads from one answer record that holds these data. */
const decoded = (data: RecordData, wish: Partial<DnsRecord> = {}): Answer => {
  const record: DnsRecord = { owner: "question", ttlSeconds: 20, data, ...wish };
  const { octets, answerCount } = encodeImage({
    rcode: 0,
    isAuthoritative: true,
    error: null,
    answers: [record],
    authority: [],
    additional: [],
  });
  const message = Buffer.concat([queryOctets({ flags: 0x8400, counts: [1, answerCount, 0, 0] }), octets]);
  const [answer] = decode(message).answers ?? [];
  assert.ok(answer !== undefined);
  return answer;
};
const dataOf = (data: RecordData): unknown => {
  const answer = decoded(data);
  return "data" in answer ? answer.data : null;
};

describe("a record's data", () => {
  const CASES: readonly { readonly what: string; readonly data: RecordData; readonly is: unknown }[] = [
    { what: "an IPv4 address", data: { type: "A", address: "192.0.2.255" }, is: "192.0.2.255" },
    { what: "an IPv6 address", data: { type: "AAAA", address: "2001:db8::1" }, is: "2001:db8::1" },
    { what: "the IPv6 address of zeros", data: { type: "AAAA", address: "::" }, is: "::" },
    {
      what: "an IPv6 address with an IPv4 tail, which dns2 would cut to 14 octets",
      data: { type: "AAAA", address: "64:ff9b::192.0.2.33" },
      is: "64:ff9b::c000:221",
    },
    { what: "a name server", data: { type: "NS", host: "ns1.example.org" }, is: "ns1.example.org" },
    { what: "an alias", data: { type: "CNAME", target: "www.example.org" }, is: "www.example.org" },
    {
      what: "a mail exchange",
      data: { type: "MX", preference: 65_535, exchange: "mx.example.org" },
      is: { preference: 65_535, exchange: "mx.example.org" },
    },
    {
      what: "no mail exchange (RFC 7505)",
      data: { type: "MX", preference: 0, exchange: "." },
      is: { preference: 0, exchange: "." },
    },
    {
      what: "a service",
      data: { type: "SRV", priority: 1, weight: 65_535, port: 443, target: "a.example.org" },
      is: { priority: 1, weight: 65_535, port: 443, target: "a.example.org" },
    },
    {
      what: "who may issue certificates",
      data: { type: "CAA", flags: 128, tag: "issue", value: "ca.example.net; account=1" },
      is: { flags: 128, tag: "issue", value: "ca.example.net; account=1", issuerCritical: true },
    },
    {
      what: "a service in HTTPS, parameters in ascending order",
      data: {
        type: "HTTPS",
        service: {
          mode: "service",
          alpn: ["h2"],
          port: 8_443,
          ipv4: ["192.0.2.1", "192.0.2.2"],
          ipv6: ["2001:db8::1"],
        },
      },
      is: Buffer.from(
        [
          ...["0001", "00"],
          ...["0001", "0003", "026832"],
          ...["0002", "0000"],
          ...["0003", "0002", "20fb"],
          ...["0004", "0008", "c0000201c0000202"],
          ...["0006", "0010", "20010db8000000000000000000000001"],
        ].join(""),
        "hex",
      ),
    },
    {
      what: "an alias in HTTPS",
      data: { type: "HTTPS", service: { mode: "alias", target: "chat.example" } },
      is: Buffer.from("00000463686174076578616d706c6500", "hex"),
    },
    { what: "HINFO", data: { type: "HINFO", cpu: "RFC8482", os: "" }, is: { cpu: "RFC8482", os: "" } },
  ];
  for (const { what, data, is } of CASES) it(`is read by others: ${what}`, () => assert.deepEqual(dataOf(data), is));

  const soa = {
    type: "SOA" as const,
    mname: "ns1.example.org",
    serial: 4_294_967_295,
    refreshSeconds: 14_400,
    retrySeconds: 3_600,
    expireSeconds: 604_800,
    minimumSeconds: 30,
  };
  const numbers = { serial: 4_294_967_295, refresh: 14_400, retry: 3_600, expire: 604_800, minimum: 30 };
  it("is read by others: SOA with the largest serial", () =>
    assert.deepEqual(dataOf({ ...soa, rname: "hostmaster.example.org" }), {
      mname: "ns1.example.org",
      rname: "hostmaster.example.org",
      ...numbers,
    }));
  it("is read by others: SOA of a mailbox with a dot, which dns2 would split", () =>
    assert.deepEqual(dataOf({ ...soa, rname: "dns\\.admin.example.org" }), {
      mname: "ns1.example.org",
      rname: "dns\\.admin.example.org",
      ...numbers,
    }));

  it("is read by others: a text of 600 octets, which dns2 would corrupt, in three pieces", () => {
    const text = "x".repeat(600);
    const { data } = decoded({ type: "TXT", texts: [text] }) as TxtAnswer;
    const pieces = (Array.isArray(data) ? data : [data]).map(String);
    assert.deepEqual([pieces.map(({ length }) => length), pieces.join("")], [[255, 255, 90], text]);
  });
  it("is read by others: an empty text", () => assert.deepEqual(String(dataOf({ type: "TXT", texts: [""] })), ""));

  it("that cannot be encoded is a bug, not a wrong record", () => {
    assert.throws(() => dataOf({ type: "A", address: "192.0.2.256" }), /invalid IPv4/);
    assert.throws(() => dataOf({ type: "AAAA", address: "fe80::1%eth0" }), /zone index/);
  });
});

describe("a record", () => {
  it("is owned by the question, or by a name written out", () => {
    assert.equal(decoded({ type: "A", address: "192.0.2.1" }).name, "chat.gslb.example.org");
    const owner = { name: "ns1.example.org" };
    assert.equal(decoded({ type: "A", address: "192.0.2.1" }, { owner }).name, "ns1.example.org");
  });
  it("has a TTL of 0 to 2³¹−1 (RFC 2181 §8)", () => {
    const ttls = [-1, 0, 20.4, 2 ** 31, 1e300].map((ttlSeconds) => {
      const answer = decoded({ type: "A", address: "192.0.2.1" }, { ttlSeconds });
      return "ttl" in answer ? answer.ttl : null;
    });
    assert.deepEqual(ttls, [0, 0, 20, 2 ** 31 - 1, 2 ** 31 - 1]);
  });
});
