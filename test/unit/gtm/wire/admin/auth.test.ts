/** Who is asking, by what stands in the Authorization header. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { actorOf, credentialsIn, tokenIn } from "#gtm/wire/admin/auth.ts";
import { type KnownToken, tokenOfEntry } from "#gtm/wire/admin/known-token.ts";
import { createToken, hashOfToken } from "#gtm/wire/admin/token.ts";

const alices = createToken(new Uint8Array(32).fill(7));
const bobs = createToken(new Uint8Array(32).fill(9));
const tokens: readonly KnownToken[] = [
  tokenOfEntry({ name: "alice", role: "operator", sha256: hashOfToken(alices) }),
  tokenOfEntry({ name: "bob", role: "viewer", sha256: hashOfToken(bobs) }),
];
const identify = (header: string | undefined, known: readonly KnownToken[]): string => {
  const credentials = credentialsIn(header, "bearer");
  if ("kind" in credentials) return credentials.why;
  return tokenIn(credentials, known)?.name ?? "unknown";
};

describe("a token", () => {
  it("is `gtm_` and 43 characters", () => {
    assert.equal(alices, "gtm_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc");
    assert.match(createToken(), /^gtm_[A-Za-z0-9_-]{43}$/);
  });
  it("differs each time", () => {
    assert.notEqual(createToken(), createToken());
  });
});

describe("an Authorization header", () => {
  const cases: readonly { header: string | undefined; says: string }[] = [
    { header: `Bearer ${alices}`, says: "alice" },
    { header: `bearer  ${alices}`, says: "alice" },
    { header: `Bearer ${bobs}`, says: "bob" },
    { header: undefined, says: "missing" },
    { header: "", says: "malformed" },
    { header: "Bearer", says: "malformed" },
    { header: alices, says: "malformed" },
    { header: `Basic ${alices}`, says: "malformed" },
    { header: `Bearer ${alices} ${bobs}`, says: "malformed" },
    { header: `Bearer ${alices.slice(0, -1)}`, says: "unknown" },
    { header: `Bearer ${hashOfToken(alices)}`, says: "unknown" },
    { header: `Bearer ${createToken()}`, says: "unknown" },
    { header: `Bearer ${alices.toUpperCase().replace("GTM_", "gtm_")}`, says: "unknown" },
  ];
  for (const { header, says } of cases) {
    it(`of ${header?.replace(/gtm_\S+/, "gtm_…") ?? "none"} is ${says}`, () => {
      assert.equal(identify(header, tokens), says);
    });
  }
  it("names nobody where the list is empty", () => {
    assert.equal(identify(`Bearer ${alices}`, []), "unknown");
  });
});

describe("a password", () => {
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;
  it("is a token, and its user the token's name, where a password counts at all", () => {
    const named = (header: string) => {
      const credentials = credentialsIn(header, "any");
      return "kind" in credentials ? credentials.why : (tokenIn(credentials, tokens)?.name ?? "unknown");
    };
    assert.equal(named(basic(`alice:${alices}`)), "alice");
    assert.equal(named(basic(`bob:${alices}`)), "unknown");
    assert.equal(named(basic("no colon")), "malformed");
    assert.equal(identify(basic(`alice:${alices}`), tokens), "malformed");
  });
});

describe("a token's end", () => {
  const [alice] = tokens;
  assert.ok(alice);
  const cases: readonly { when: string; wish: Partial<KnownToken>; says: string }[] = [
    { when: "before its end", wish: { expiresAtMs: 1_001 }, says: "actor" },
    { when: "without an end", wish: { expiresAtMs: null }, says: "actor" },
    { when: "at its end", wish: { expiresAtMs: 1_000 }, says: "expired" },
    { when: "once revoked", wish: { expiresAtMs: 2_000, revokedAtMs: 900 }, says: "revoked" },
    { when: "once revoked by a clock that is ahead", wish: { revokedAtMs: 5_000 }, says: "revoked" },
  ];
  for (const { when, wish, says } of cases) {
    it(`${when} it is ${says}`, () => {
      const found = actorOf({ ...alice, ...wish }, 1_000);
      assert.equal(found.kind === "refused" ? found.why : found.kind, says);
    });
  }
});
