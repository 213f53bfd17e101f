/** Laws of the DNS answer step on arbitrary octets: it never throws, never says too much, and what it says can be read. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decode } from "dns-packet";
import fc from "fast-check";
import type { AnswerStep } from "#gtm/wire/dns/answer.ts";
import { createAnswerer } from "#gtm/wire/dns/answerer.ts";
import type { Transport } from "#gtm/wire/dns/tally.ts";
import { type OptWish, optionOctets, type QueryWish, queryOctets, subnetOption } from "#test/support/dns-client.ts";
import { aDnsSetting, answererOptions } from "#test/support/dns-zone.ts";
import { metricValue } from "#test/support/metric-value.ts";

/** NSID, client subnet, cookie and keepalive, each at its longest. */
const EVERYTHING = Buffer.concat([
  optionOctets(3, Buffer.alloc(0)),
  subnetOption(
    2,
    128,
    Array.from({ length: 16 }, () => 32),
  ),
  optionOctets(10, Buffer.alloc(40, 1)),
  optionOctets(11, Buffer.alloc(0)),
]);

const setting = aDnsSetting({ nsid: "n".repeat(64), whyAllow: ["192.0.2.0/24"], rateLimit: { perPrefixQps: null } });
const answerer = createAnswerer(answererOptions(setting.options));
const steps = { udp: answerer("udp"), tcp: answerer("tcp") };
const room = Buffer.alloc(65_535);

/** @returns null: no answer */
const answerOf = async (
  octets: Buffer,
  transport: Transport,
  peer = "192.0.2.7",
  step: AnswerStep = steps[transport],
): Promise<Buffer | null> => {
  const before = Buffer.from(octets);
  const answer = step(octets, peer, room);
  const given = typeof answer === "number" ? Buffer.from(room.subarray(0, answer)) : Buffer.from((await answer) ?? []);
  assert.deepEqual(octets, before, "the query is left as it came");
  return given.length === 0 ? null : given;
};

const transport = fc.constantFrom<Transport>("udp", "tcp");
const name = fc.oneof(
  fc.constantFrom(
    "chat",
    "many",
    "huge",
    "front",
    "c",
    "virginia.r",
    "ns1",
    "qwen-qwen3-coder.m",
    "nope",
    "why.chat",
    "why.abc.c",
    "alias",
    "chain",
    "gone",
    "to-sub",
    "x.wild",
    "ent.wild",
    "www.sub",
    "longer",
    "web",
  ),
  fc.stringMatching(/^[a-zA-Z0-9_-]{1,63}\.c$/),
  fc.stringMatching(/^[a-z0-9.-]{1,30}$/),
);
const type = fc.oneof(fc.constantFrom(1, 28, 2, 6, 16, 65, 255, 252), fc.integer({ min: 0, max: 65_535 }));
const options = fc.oneof(
  fc.constant(Buffer.alloc(0)),
  fc.constantFrom(
    subnetOption(1, 24, [192, 0, 2]),
    subnetOption(1, 0, []),
    subnetOption(2, 56, [32, 1, 13, 184, 0, 5, 0]),
    EVERYTHING,
  ),
  fc
    .tuple(fc.integer({ min: 0, max: 65_535 }), fc.uint8Array({ maxLength: 40 }))
    .map(([code, data]) => optionOctets(code, Buffer.from(data))),
);
const opt: fc.Arbitrary<OptWish | null> = fc.option(
  fc.record({
    payload: fc.oneof(fc.constantFrom(0, 512, 1_232, 65_535), fc.integer({ min: 0, max: 65_535 })),
    version: fc.constantFrom(0, 0, 0, 1),
    flags: fc.constantFrom(0, 0x8000, 0xffff),
    options,
  }),
  { nil: null },
);
const valid: fc.Arbitrary<QueryWish> = fc.record({
  id: fc.integer({ min: 0, max: 65_535 }),
  flags: fc.constantFrom(0, 0x0100, 0x0120, 0x07f0),
  name: name.map((text) => `${text}.gslb.example.org`.replaceAll(/\.{2,}/g, ".").replace(/^\./, "")),
  type,
  opt,
});

/** A few octets changed, cut out, put in, or the end cut off. */
const mutated = fc
  .tuple(
    valid.map(queryOctets),
    fc.array(
      fc.tuple(fc.nat(400), fc.integer({ min: 0, max: 255 }), fc.constantFrom("set", "insert", "remove", "cut")),
      {
        minLength: 1,
        maxLength: 6,
      },
    ),
  )
  .map(([octets, changes]) => {
    const list = [...octets];
    for (const [where, value, change] of changes) {
      const at = where % (list.length + 1);
      if (change === "set") list[at] = value;
      else if (change === "insert") list.splice(at, 0, value);
      else if (change === "remove") list.splice(at, 1);
      else if (value < 32) list.length = at;
    }
    return Buffer.from(list);
  });

const taken = ({ opt: told }: QueryWish, over: Transport): number => {
  if (over === "tcp") return 65_535;
  return Math.min(1_232, Math.max(512, told?.payload ?? 0));
};

const isSane = async (octets: Buffer, over: Transport): Promise<void> => {
  const answer = await answerOf(octets, over);
  if (answer === null) return;
  assert.ok(answer.length <= (over === "tcp" ? 65_535 : 1_232));
  assert.equal(answer.readUInt16BE(0), octets.readUInt16BE(0), "its ID");
  assert.ok((answer[2] ?? 0) & 0x80, "a response");
  decode(answer);
};

describe("the DNS answer step", () => {
  it("never throws, never gives more than fits, and what it gives can be read: arbitrary octets", () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 600 }), transport, (octets, over) =>
        isSane(Buffer.from(octets), over),
      ),
      { numRuns: 1_000 },
    ));

  it("never throws, never gives more than fits, and what it gives can be read: valid queries, mutated", () =>
    fc.assert(fc.asyncProperty(mutated, transport, isSane), { numRuns: 3_000 }));

  it("gives every sound query an answer that dns-packet reads, with its question, within what the client takes", () =>
    fc.assert(
      fc.asyncProperty(valid, transport, async (wish, over) => {
        const answer = await answerOf(queryOctets(wish), over);
        assert.ok(answer !== null);
        assert.ok(answer.length <= taken(wish, over), `${answer.length} octets, the client takes ${taken(wish, over)}`);
        const { questions, answers, authorities, additionals, flag_tc } = decode(answer);
        assert.equal(questions?.length, 1);
        assert.equal((additionals ?? []).filter((one) => one.type === "OPT").length, wish.opt === null ? 0 : 1);
        assert.ok(!flag_tc || (over === "udp" && answers?.length === 0 && authorities?.length === 0));
      }),
      { numRuns: 2_000 },
    ));

  it("gives the same query the same octets, but for the ID", () =>
    fc.assert(
      fc.asyncProperty(valid, transport, fc.integer({ min: 0, max: 65_535 }), async (wish, over, id) => {
        const first = await answerOf(queryOctets(wish), over);
        const second = await answerOf(queryOctets({ ...wish, id }), over);
        assert.deepEqual(first?.subarray(2), second?.subarray(2));
      }),
      { numRuns: 500 },
    ));

  it("gives no answer to an answer: what it says is never answered", () =>
    fc.assert(
      fc.asyncProperty(valid, transport, async (wish, over) => {
        const answer = await answerOf(queryOctets(wish), over);
        assert.equal(answer === null ? null : await answerOf(answer, over), null);
      }),
      { numRuns: 300 },
    ));

  it("has met no bug on the way: SERVFAIL is not how these laws were kept", async () => {
    assert.equal(await metricValue(setting.metrics, "gtm_dns_answer_faults_total"), 0);
    assert.deepEqual(
      setting.log.lines.filter(({ level }) => level === "error"),
      [],
    );
  });
});
