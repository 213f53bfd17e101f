/** Instances that answer alike, late alike, or not. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Asked } from "#gtm/dns-check/ask.ts";
import { isSame } from "#gtm/dns-check/comparison.ts";
import { instanceDnsFindings } from "#gtm/dns-check/instance-dns-findings.ts";
import { AGAIN, checkInstances } from "#gtm/dns-check/instances-check.ts";
import type { Query } from "#gtm/dns-check/message.ts";
import { asSubnet, type Question, questionsOf } from "#gtm/dns-check/questions.ts";
import { deadlineOf } from "#gtm/dns-check/within.ts";
import type { RecordValue, ZoneRecord } from "#gtm/domain/zone-record.ts";
import { ModelId, PoolName, RegionId } from "#shared/ids.ts";
import { aRecord, aReply, askOf, noAnswer } from "#test/support/dns-replies.ts";

const A = { address: "192.0.2.1", port: 53 };
const B = { address: "192.0.2.2", port: 53 };
const SOA: Question = { name: "llm.test", type: "SOA", subnet: null, kind: "fixed" };
const POOL: Question = { name: "chat.llm.test", type: "A", subnet: "192.0.2.0/24", kind: "steered" };

const addresses = (query: Query, address: string, ttl = 20): Asked =>
  query.type === "SOA"
    ? aReply({ answers: [aRecord("llm.test", "SOA", "ns1 x 1 1 1 1 1")] })
    : aReply({ answers: [aRecord(query.name, query.type, address, ttl)] });

const check = async (answer: (address: string, query: Query, times: number) => Asked, questions = [SOA, POOL]) => {
  const { ask, asked } = askOf(answer);
  const slept: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    slept.push(ms);
  };
  const checked = await checkInstances([A, B], questions, { ask, sleep });
  return { checked, asked, slept, findings: instanceDnsFindings(checked) };
};

describe("two instances", () => {
  it("that say the same are asked once", async () => {
    const { findings, slept, asked } = await check((_, query) => addresses(query, "198.51.100.1"));
    assert.deepEqual(
      findings.map(({ id, severity }) => `${severity} ${id}`),
      ["ok dns-same"],
    );
    assert.deepEqual([slept, asked.length], [[], 4]);
  });
  it("of which one hears later than the other differ in nothing, once they are asked again", async () => {
    const { findings, slept, asked } = await check((address, query, times) =>
      addresses(query, address === B.address && times < 3 ? "198.51.100.2" : "198.51.100.1"),
    );
    assert.deepEqual(
      findings.map(({ severity }) => severity),
      ["ok"],
    );
    assert.deepEqual(slept, [AGAIN.everyMs, AGAIN.everyMs]);
    assert.equal(asked.filter((one) => one.includes("SOA")).length, 2, "what is the same is not asked again");
  });
  it("that go on differing are a problem that names both, after more than two seconds", async () => {
    const { findings, slept } = await check((address, query) =>
      addresses(query, address === B.address ? "198.51.100.2" : "198.51.100.1"),
    );
    assert.ok(slept.reduce((sum, ms) => sum + ms, 0) > 2_000);
    assert.deepEqual(
      findings.map(({ severity, id }) => `${severity} ${id}`),
      ["problem dns-differs"],
    );
    assert.match(
      findings[0]?.what ?? "",
      /^chat\.llm\.test A from 192\.0\.2\.0\/24 .* 192\.0\.2\.1: NOERROR, A 198\.51\.100\.1, TTL up to 1 min; 192\.0\.2\.2: NOERROR, A 198\.51\.100\.2/,
    );
    assert.match(findings[0]?.remedy ?? "", /gtm instances/);
  });

  type Case = { readonly what: string; readonly question: Question; readonly other: Asked; readonly isSame: boolean };
  const one = (wish: Parameters<typeof aReply>[0]): Asked => aReply(wish);
  const record = aRecord(POOL.name, "A", "198.51.100.1", 20);
  const cases: readonly Case[] = [
    {
      what: "a TTL of 5 s beside 20 s of a steered name",
      question: POOL,
      other: one({ answers: [{ ...record, ttlSeconds: 5 }] }),
      isSame: true,
    },
    {
      what: "a TTL of 5 s beside 20 s of a fixed name",
      question: { ...POOL, kind: "fixed" },
      other: one({ answers: [{ ...record, ttlSeconds: 5 }] }),
      isSame: false,
    },
    {
      what: "a TTL of an hour beside 20 s",
      question: POOL,
      other: one({ answers: [{ ...record, ttlSeconds: 3_600 }] }),
      isSame: false,
    },
    { what: "another code", question: POOL, other: one({ rcode: 2 }), isSame: false },
    {
      what: "the same without authority",
      question: POOL,
      other: one({ answers: [record], isAuthoritative: false }),
      isSame: false,
    },
    { what: "silence", question: POOL, other: noAnswer(), isSame: false },
    {
      what: "other words of why",
      question: { ...POOL, kind: "telling" },
      other: one({ answers: [{ ...record, data: "x" }] }),
      isSame: true,
    },
    { what: "why refused", question: { ...POOL, kind: "telling" }, other: one({ rcode: 5 }), isSame: false },
  ];
  for (const { what, question, other, isSame: expected } of cases) {
    it(`are ${expected ? "alike" : "not alike"} with ${what}`, async () => {
      const { checked } = await check(
        (address, query) =>
          query.type === "SOA" ? addresses(query, "") : address === B.address ? other : aReply({ answers: [record] }),
        [SOA, question],
      );
      assert.equal(checked.compared.every(isSame), expected);
    });
  }

  it("are asked at most eight questions at once, with a breath between", async () => {
    const many = Array.from({ length: 20 }, (_, at): Question => ({ ...POOL, name: `p${at}.llm.test` }));
    const { slept } = await check((_, query) => addresses(query, "198.51.100.1"), [SOA, ...many]);
    assert.deepEqual(slept, [50, 50]);
  });
  it("of which none is authoritative are asked nothing more", async () => {
    const { checked, asked } = await check(() => aReply({ rcode: 5, isAuthoritative: false }));
    assert.deepEqual([checked.compared, asked.length], [[], 2]);
    assert.match(checked.unable[0]?.why ?? "", /REFUSED/);
  });
});

describe("the questions", () => {
  it("are of every kind of name that the zone has", () => {
    const questions = questionsOf({
      zone: "llm.test",
      pools: [
        { name: PoolName.parse("chat"), answer: "regions" },
        { name: PoolName.parse("sdk"), answer: "front" },
      ],
      models: [{ id: ModelId.parse("Meta/Llama 3") }],
      regions: [{ id: RegionId.parse("eu") }],
      records: [],
      subnets: ["192.0.2.0/24", "2001:db8::/48"],
    });
    const texts = questions.map(({ name, type, kind }) => `${name} ${type} ${kind}`);
    for (const expected of [
      ...["llm.test SOA fixed", "llm.test NS fixed", "chat.llm.test A steered", "chat.llm.test HTTPS steered"],
      ...[
        "sdk.llm.test A fixed",
        "meta-llama-3.m.llm.test A steered",
        "front.llm.test AAAA fixed",
        "eu.r.llm.test A fixed",
      ],
      ...["why.chat.llm.test TXT telling", "stranger.c.llm.test A steered", "nobody-has-this-name.llm.test A fixed"],
    ])
      assert.ok(texts.includes(expected), `${expected} in ${texts.join("; ")}`);
    assert.equal(texts.filter((text) => text === "chat.llm.test A steered").length, 2);
  });
  it("are of every set of the owner's records, once, and of what is given away only where it begins", () => {
    const record = (name: string, value: RecordValue): ZoneRecord => ({ name, ttlSeconds: 300, value });
    const a: RecordValue = { type: "A", address: "192.0.2.80" };
    const records = [
      record("status.llm.test", a),
      record("status.llm.test", { type: "A", address: "192.0.2.81" }),
      record("status.llm.test", { type: "TXT", texts: ["up"] }),
      record("*.preview.llm.test", a),
      record("lab.llm.test", { type: "NS", host: "ns1.lab.llm.test" }),
      record("lab.llm.test", a),
      record("ns1.lab.llm.test", a),
    ];
    const none = { zone: "llm.test", pools: [], models: [], regions: [], subnets: [] };
    const texts = (some: readonly ZoneRecord[]): readonly string[] =>
      questionsOf({ ...none, records: some }).map(({ name, type, kind }) => `${name} ${type} ${kind}`);
    const others = new Set(texts([]));
    assert.deepEqual(
      texts(records).filter((text) => !others.has(text)),
      [
        "status.llm.test A fixed",
        "status.llm.test TXT fixed",
        "any-name.preview.llm.test A fixed",
        "lab.llm.test NS fixed",
      ],
    );
  });
  it("see where two refer to other servers for the same name", async () => {
    const question: Question = { name: "lab.llm.test", type: "NS", subnet: null, kind: "fixed" };
    const { checked } = await check(
      (address, query) =>
        query.type === "SOA"
          ? addresses(query, "")
          : aReply({ isAuthoritative: false, authority: [aRecord("lab.llm.test", "NS", `ns.${address}`)] }),
      [SOA, question],
    );
    assert.deepEqual(
      checked.compared[1]?.sides.map(({ answer }) => (answer.kind === "said" ? answer.data : answer)),
      [[`NS ns.${A.address}`], [`NS ns.${B.address}`]],
    );
  });
  it("say of a client no more than resolvers do", () => {
    assert.deepEqual(["10.0.0.0/8", "2001:db8::/32"].map(asSubnet), ["10.0.0.0/24", "2001:db8::/48"]);
  });
});

describe("the end of a check", () => {
  it("answers for whoever has not", async () => {
    using deadline = deadlineOf(1);
    const never = new Promise<never>(() => undefined);
    const asked = await deadline.ask(() => never)(A, { name: "x", type: "A", opt: null }, "udp");
    assert.match(asked.kind === "failed" ? asked.why : "", /whole check/);
    const resolver = deadline.resolver({ nameServers: () => never, addresses: () => never });
    assert.deepEqual(
      [(await resolver.nameServers("x")).kind, (await resolver.addresses("x")).kind],
      ["unknown", "unknown"],
    );
  });
});
