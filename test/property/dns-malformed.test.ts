/** A hundred thousand malformed messages at the answer step, octets in, octets out: shapes that broke other servers, and valid queries mangled. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decode } from "dns-packet";
import { createAnswerer } from "#gtm/wire/dns/answerer.ts";
import { nameOctets, optionOctets, optOctets, queryOctets, subnetOption } from "#test/support/dns-client.ts";
import { aDnsSetting, answererOptions } from "#test/support/dns-zone.ts";
import { metricValue } from "#test/support/metric-value.ts";

const MESSAGES = 100_000;
const ZONE = "gslb.example.org";

/** Park and Miller's: the same messages each run, so that what breaks breaks again. */
const dice = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
};

const cookie = (octets: number): Buffer => optionOctets(10, Buffer.alloc(octets, 7));
const VALID: readonly Buffer[] = [
  ...["chat", "many", "huge", "ns1", "nope", "why.chat", "abc.c", "x.y.z.c"].flatMap((name) =>
    [1, 28, 16, 255, 65, 252].map((type) => queryOctets({ name: `${name}.${ZONE}`, type })),
  ),
  queryOctets({ opt: { options: Buffer.concat([subnetOption(1, 24, [192, 0, 2]), cookie(8)]) } }),
  queryOctets({ opt: { options: Buffer.concat([subnetOption(2, 56, [32, 1, 13, 184, 0, 5, 0]), cookie(24)]) } }),
  queryOctets({ opt: { version: 1 } }),
  queryOctets({ question: Buffer.alloc(0), counts: [0, 0, 0, 1], opt: { options: cookie(8) } }),
];

const pointers = (count: number): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, i) => Buffer.from([0xc0 | ((12 + i) >>> 8), (12 + i) & 0xff])));
const record = (owner: Buffer, type: number, length: number, data: Buffer): Buffer => {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(length, 8);
  return Buffer.concat([owner, fixed, data]);
};
/** As in the corpora that servers are fuzzed with: each once whole, and then mangled like the others. */
const SHAPES: readonly Buffer[] = [
  Buffer.alloc(12),
  Buffer.alloc(512, 0xff),
  Buffer.alloc(1_232, 0xc0),
  queryOctets({ question: pointers(200) }),
  queryOctets({ question: Buffer.from([0xc0, 0x0c, 0, 1, 0, 1]) }),
  queryOctets({
    question: Buffer.concat([Buffer.from([63]), Buffer.alloc(63, 0x61), Buffer.from([0xc0, 12, 0, 1, 0, 1])]),
  }),
  queryOctets({ question: Buffer.concat([Buffer.alloc(254, 1), Buffer.from([0, 0, 1, 0, 1])]) }),
  queryOctets({ question: Buffer.concat([Buffer.alloc(256, 1), Buffer.from([0, 0, 1, 0, 1])]) }),
  queryOctets({ question: Buffer.concat([nameOctets(ZONE), nameOctets(ZONE), nameOctets(ZONE)]) }),
  ...[0xffff, 2, 100].map((count) => queryOctets({ counts: [count, count, count, count] })),
  queryOctets({ counts: [1, 0, 0, 0xffff], tail: pointers(300) }),
  queryOctets({ counts: [1, 0, 0, 40], tail: Buffer.concat(Array.from({ length: 40 }, () => optOctets({}))) }),
  queryOctets({ counts: [1, 1, 1, 1], tail: record(Buffer.from([0xc0, 12]), 1, 0xffff, Buffer.alloc(4)) }),
  queryOctets({ counts: [1, 0, 0, 1], tail: record(Buffer.from([0]), 41, 12, optionOctets(8, Buffer.alloc(2))) }),
  queryOctets({ counts: [1, 0, 0, 1], tail: record(Buffer.from([0]), 250, 16, Buffer.alloc(16)) }),
  ...[0, 1, 2, 3, 4].map((length) => queryOctets({ opt: { options: optionOctets(8, Buffer.alloc(length)) } })),
  queryOctets({ opt: { options: Buffer.concat(Array.from({ length: 100 }, () => cookie(8))) } }),
  queryOctets({ opt: { options: Buffer.from([0, 10, 0xff, 0xff, 1, 2, 3]) } }),
];

const TELLING = [0, 1, 0x0c, 0x29, 0x3f, 0x40, 0x7f, 0x80, 0xbf, 0xc0, 0xff];

const mangled = (message: Buffer, other: Buffer, roll: (below: number) => number): Buffer => {
  const at = roll(message.length + 1);
  const octets = Buffer.from(message);
  switch (roll(7)) {
    case 0:
      return octets.subarray(0, at);
    case 1:
      return Buffer.concat([octets.subarray(0, at), other.subarray(roll(other.length + 1))]);
    case 2:
      return Buffer.concat([octets.subarray(0, at), octets.subarray(Math.max(0, at - roll(40)))]);
    case 3:
      return Buffer.concat([octets.subarray(0, at), octets.subarray(Math.min(octets.length, at + roll(20)))]);
    case 4:
      // Counts and flags, which say what the rest is.
      if (octets.length >= 12) octets[2 + roll(10)] = TELLING[roll(TELLING.length)] ?? 0;
      return octets;
    default:
      for (let changes = roll(4); changes >= 0; changes--) {
        if (octets.length > 0) octets[roll(octets.length)] = TELLING[roll(TELLING.length)] ?? 0;
      }
      return octets;
  }
};

/** @returns the answer's code; null: there is none, and none was due */
const checked = (octets: Buffer, answer: Buffer, most: number): number | null => {
  const shown = octets.toString("hex");
  if (answer.length === 0) {
    assert.ok(octets.length < 12 || (octets[2] ?? 0) >= 0x80, `${shown} got no answer`);
    return null;
  }
  assert.ok(answer.length <= most, shown);
  assert.equal(answer.readUInt16BE(0), octets.readUInt16BE(0), shown);
  decode(answer);
  return (answer[3] ?? 0) & 0x0f;
};

describe("a hundred thousand malformed messages", () => {
  it("meet no bug, and what is answered has the message's ID, fits, and can be read", async () => {
    const setting = aDnsSetting({ nsid: "n", whyAllow: ["192.0.2.0/24"], rateLimit: { perPrefixQps: null } });
    const options = answererOptions(setting.options);
    const answerer = createAnswerer(options);
    const udp = { step: answerer("udp"), most: 1_232 };
    const tcp = { step: answerer("tcp"), most: 65_535 };
    const room = Buffer.alloc(65_535);
    const roll = dice(9_018);
    const seeds = [...VALID, ...SHAPES];
    const pick = (): Buffer => seeds[roll(seeds.length)] ?? Buffer.alloc(0);
    const codes = new Map<number | null, number>();
    for (let i = 0; i < MESSAGES; i++) {
      const octets = SHAPES[i] ?? mangled(pick(), pick(), roll);
      const { step, most } = i % 5 === 0 ? tcp : udp;
      const given = step(octets, "192.0.2.7", room);
      const answer = typeof given === "number" ? room.subarray(0, given) : Buffer.from((await given) ?? []);
      const code = checked(octets, answer, most);
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    options.tally.flush();
    assert.equal(await metricValue(setting.metrics, "gtm_dns_answer_faults_total"), 0);
    // None, NOERROR (BADVERS among them), FORMERR, NXDOMAIN, NOTIMP, REFUSED: the messages reached every part.
    for (const code of [null, 0, 1, 3, 4, 5]) assert.ok((codes.get(code) ?? 0) > 500, `${code}: ${codes.get(code)}`);
  });
});
