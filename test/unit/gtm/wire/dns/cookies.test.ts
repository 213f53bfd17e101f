/** DNS cookies by the examples of RFC 9018, appendix A. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createCookies } from "#gtm/wire/dns/cookies.ts";
import { emptyQuery } from "#gtm/wire/dns/dns-query.ts";

const hex = (text: string): Buffer => Buffer.from(text, "hex");

const SECRET = hex("e5e973e5a6b2a43f48e7dc849e37bfcf");
const OLD_SECRET = hex("dd3bdf9344b678b185a6f5cb60fca715");
const NEW_SECRET = hex("445536bcd2513298075a5d379663c962");

type Asked = {
  readonly cookie: string;
  readonly peer: string;
  readonly atSeconds: number;
  readonly secrets?: readonly Uint8Array[];
};
/** @returns what the cookie was found to be, and the one that answers it */
const answerOf = ({ cookie, peer, atSeconds, secrets = [SECRET] }: Asked): readonly [string, string] => {
  const cookies = createCookies({ secrets: () => secrets, clock: { epochMs: () => atSeconds * 1_000 } });
  const octets = hex(cookie);
  const query = { ...emptyQuery(), octets, peer, cookieAt: 0, cookieOctets: octets.length };
  const out = Buffer.alloc(30);
  const state = cookies.answer(query, out, 1);
  assert.equal(out.subarray(1, 5).toString("hex"), "000a0018", "the option's code and length");
  return [state, out.subarray(5, 29).toString("hex")];
};

describe("a DNS cookie", () => {
  const A1 = { cookie: "2464c4abcf10c957", peer: "198.51.100.100", atSeconds: 1_559_731_985 };
  const LEARNT = "2464c4abcf10c957010000005cf79f111f8130c3eee29480";

  it("is made for a client that has none (A.1)", () => assert.deepEqual(answerOf(A1), ["new", LEARNT]));

  it("is made anew once it is 40 minutes old (A.2)", () =>
    assert.deepEqual(answerOf({ ...A1, cookie: LEARNT, atSeconds: 1_559_734_385 }), [
      "valid",
      "2464c4abcf10c957010000005cf7a871d4a564a1442aca77",
    ]));

  it("is valid with reserved octets set, since they are hashed as they came (A.3)", () => {
    const cookie = "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5";
    const issuedAt = 0x5cf78f71;
    const peer = "203.0.113.203";
    assert.equal(answerOf({ cookie, peer, atSeconds: issuedAt })[0], "valid");
    // The example answers it almost two hours later; by then it is too old, and gets what the example gives.
    const late = answerOf({ cookie, peer, atSeconds: 1_559_734_700 });
    assert.deepEqual(late, ["invalid", "fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e"]);
  });

  it("of the secret before is valid, and is made anew with the new one (A.4, IPv6)", () =>
    assert.deepEqual(
      answerOf({
        cookie: "22681ab97d52c298010000005cf7c57926556bd0934c72f8",
        peer: "2001:db8:220:1:59de:d0f4:8769:82b8",
        atSeconds: 1_559_741_961,
        secrets: [NEW_SECRET, OLD_SECRET],
      }),
      ["valid", "22681ab97d52c298010000005cf7c609a6bb79d16625507a"],
    ));

  const issuedAt = A1.atSeconds;
  const ages: readonly (readonly [what: string, seconds: number, state: string, isKept: boolean])[] = [
    ["the second it was made", 0, "valid", true],
    ["half an hour later", 1_800, "valid", true],
    ["a second after that", 1_801, "valid", false],
    ["an hour later", 3_600, "valid", false],
    ["a second after that", 3_601, "invalid", false],
    ["by a clock five minutes behind", -300, "valid", true],
    ["by a clock further behind", -301, "invalid", false],
  ];
  for (const [what, seconds, state, isKept] of ages) {
    it(`is ${state} and ${isKept ? "kept" : "made anew"} ${what} (§4.3)`, () => {
      const [found, given] = answerOf({ ...A1, cookie: LEARNT, atSeconds: issuedAt + seconds });
      assert.deepEqual([found, given === LEARNT], [state, isKept]);
    });
  }

  it("goes on when 32 bits of seconds end", () => {
    const before = 2 ** 32 - 10;
    const [, cookie] = answerOf({ ...A1, atSeconds: before });
    assert.equal(answerOf({ ...A1, cookie, atSeconds: before + 20 })[0], "valid");
  });

  const forged: readonly (readonly [what: string, asked: Partial<Asked>])[] = [
    ["shown by another address", { peer: "198.51.100.101" }],
    ["shown by an IPv6 address", { peer: "2001:db8::1" }],
    ["of another client cookie", { cookie: `34${LEARNT.slice(2)}` }],
    ["of another version", { cookie: LEARNT.replace("c95701", "c95702") }],
    ["of another secret", { secrets: [NEW_SECRET] }],
    ["of 16 octets, as other servers make them", { cookie: LEARNT.slice(0, 32) }],
    ["of 40 octets", { cookie: LEARNT.padEnd(80, "0") }],
  ];
  for (const [what, asked] of forged) {
    it(`is invalid ${what}, and a good one is given instead`, () => {
      const [state, given] = answerOf({ ...A1, cookie: LEARNT, ...asked });
      assert.equal(state, "invalid");
      assert.equal(answerOf({ ...A1, ...asked, cookie: given })[0], "valid");
    });
  }

  it("follows the secrets as they change", () => {
    let secrets: readonly Uint8Array[] = [OLD_SECRET];
    const clock = { epochMs: () => issuedAt * 1_000 };
    const cookies = createCookies({ secrets: () => secrets, clock });
    const out = Buffer.alloc(28);
    const show = (cookie: Buffer): string =>
      cookies.answer(
        { ...emptyQuery(), octets: cookie, peer: "::1", cookieAt: 0, cookieOctets: cookie.length },
        out,
        0,
      );
    assert.equal(show(hex("0102030405060708")), "new");
    const learnt = Buffer.from(out.subarray(4));
    secrets = [OLD_SECRET, NEW_SECRET];
    assert.equal(show(learnt), "valid");
    secrets = [NEW_SECRET, OLD_SECRET];
    assert.equal(show(learnt), "valid");
    const renewed = Buffer.from(out.subarray(4));
    assert.notDeepEqual(renewed, learnt);
    secrets = [NEW_SECRET];
    assert.deepEqual([show(learnt), show(renewed)], ["invalid", "valid"]);
  });
});
