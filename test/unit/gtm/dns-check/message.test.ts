/** What the check of DNS sends and reads, beside dns-packet. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decode, encode, type OptAnswer, type Packet } from "dns-packet";
import { decodeReply, encodeQuery, type Query, rcodeText } from "#gtm/dns-check/message.ts";
import { type OptWish, PLAIN_OPT, UNKNOWN_OPTION } from "#gtm/dns-check/opt.ts";

const query = (opt: OptWish | null): Query => ({ name: "chat.llm.test", type: "HTTPS", opt });
const optIn = (octets: Buffer): OptAnswer => {
  const [opt] = decode(octets).additionals ?? [];
  assert.ok(opt?.type === "OPT");
  return opt;
};

describe("a query", () => {
  it("asks one thing, not recursively, and without EDNS has no OPT", () => {
    const { id, flags, questions, additionals } = decode(encodeQuery(query(null), 0xabcd));
    assert.deepEqual([id, flags, additionals], [0xabcd, 0, []]);
    assert.deepEqual(questions, [{ name: "chat.llm.test", type: "UNKNOWN_65", class: "IN" }]);
  });
  it("says its version, its payload and an option that nobody knows", () => {
    const opt = optIn(encodeQuery(query({ version: 1, subnet: null, withUnknownOption: true }), 1));
    assert.deepEqual([opt.ednsVersion, opt.udpPayloadSize], [1, 1_232]);
    assert.deepEqual(
      opt.options.map(({ code }) => code as number),
      [UNKNOWN_OPTION],
    );
  });
  const subnets: readonly (readonly [subnet: string, family: number, octets: readonly number[]])[] = [
    ["192.0.2.0/24", 1, [192, 0, 2]],
    ["10.1.77.99/16", 1, [10, 1]],
    ["2001:db8::/48", 2, [0x20, 0x01, 0x0d, 0xb8, 0, 0]],
    ["2001:db8:1:2::/56", 2, [0x20, 0x01, 0x0d, 0xb8, 0, 1, 0]],
  ];
  for (const [subnet, family, octets] of subnets) {
    it(`sends of ${subnet} the octets of the prefix and scope 0`, () => {
      const bits = Number(subnet.split("/")[1]);
      const [option] = optIn(encodeQuery(query({ ...PLAIN_OPT, subnet }), 1)).options;
      assert.deepEqual([...(option?.data ?? [])], [0, family, bits, 0, ...octets]);
    });
  }
});

describe("a reply", () => {
  const replyTo = (packet: Packet): Buffer => encode({ type: "response", id: 7, flags: 0x0400, ...packet });
  const question = { name: "Chat.LLM.test", type: "A", class: "IN" } as const;
  it("is read with its records, TTLs, and the scope of the client subnet", () => {
    const octets = replyTo({
      questions: [question],
      answers: [{ type: "A", name: "chat.llm.test", ttl: 20, data: "192.0.2.1" }],
      additionals: [
        { type: "AAAA", name: "ns1.llm.test", ttl: 60, data: "2001:db8:0:0::53" },
        {
          ...{ type: "OPT", name: ".", udpPayloadSize: 1_232, extendedRcode: 1, ednsVersion: 0, flags: 0 },
          ...{ flag_do: false, options: [{ code: 8, data: Buffer.from([0, 1, 24, 20, 192, 0, 2]) }] as never },
        },
      ],
    });
    const reply = decodeReply(octets, query(null), 7);
    assert.deepEqual(reply?.answers, [{ name: "chat.llm.test", type: "A", ttlSeconds: 20, data: "192.0.2.1" }]);
    assert.deepEqual(reply?.additional, [{ name: "ns1.llm.test", type: "AAAA", ttlSeconds: 60, data: "2001:db8::53" }]);
    assert.deepEqual(reply?.opt?.subnet, { sourceBits: 24, scopeBits: 20 });
    assert.deepEqual([reply?.rcode, rcodeText(reply?.rcode ?? 0), reply?.isAuthoritative], [16, "BADVERS", true]);
  });
  it("to another question, with another number, or that is a query itself is none", () => {
    assert.equal(decodeReply(replyTo({ questions: [question] }), query(null), 8), null);
    assert.equal(decodeReply(replyTo({ questions: [{ ...question, name: "x.test" }] }), query(null), 7), null);
    assert.equal(decodeReply(encodeQuery(query(null), 7), query(null), 7), null);
  });
  it("that is cut off or larger than any zone's is refused", () => {
    const answers = [{ type: "A", name: "chat.llm.test", ttl: 20, data: "192.0.2.1" } as const];
    const whole = replyTo({ questions: [question], answers });
    assert.throws(() => decodeReply(whole.subarray(0, -2), query(null), 7));
    assert.throws(() => decodeReply(Buffer.alloc(9_000), query(null), 7), /9000 octets/);
  });
  it("of a type without a codec keeps its octets (RFC 3597)", () => {
    const data = Buffer.from("000100", "hex");
    const octets = replyTo({
      questions: [question],
      answers: [{ type: "UNKNOWN_65", name: "chat.llm.test", ttl: 1, data } as never],
    });
    const [answer] = decodeReply(octets, query(null), 7)?.answers ?? [];
    assert.deepEqual([answer?.type, answer?.data], ["HTTPS", "\\# 3 000100"]);
  });
  it("is read with what the zone's owner keeps there", () => {
    const name = "llm.test";
    const octets = replyTo({
      questions: [{ ...question, name }],
      answers: [
        { type: "MX", name, ttl: 1, data: { preference: 10, exchange: "Mail.llm.test" } },
        { type: "SRV", name, ttl: 1, data: { priority: 1, weight: 2, port: 5_060, target: "Sip.llm.test" } },
        { type: "CAA", name, ttl: 1, data: { flags: 128, tag: "issue", value: "ca.example" } },
        { type: "TXT", name, ttl: 1, data: ["a", "b"] },
      ],
    });
    assert.deepEqual(
      decodeReply(octets, { ...query(null), name }, 7)?.answers.map(({ type, data }) => `${type} ${data}`),
      ["MX 10 mail.llm.test", "SRV 1 2 5060 sip.llm.test", 'CAA 128 issue "ca.example"', "TXT ab"],
    );
  });
});
