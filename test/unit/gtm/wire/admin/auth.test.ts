/** Who is asking, and what their role allows. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Actor, identify, suffices } from "#gtm/wire/admin/auth.ts";
import { createToken, hashOfToken } from "#gtm/wire/admin/token.ts";
import type { Role, TokenEntry } from "#gtm/wire/admin/tokens-file.ts";

const alices = createToken(new Uint8Array(32).fill(7));
const bobs = createToken(new Uint8Array(32).fill(9));
const entries: readonly TokenEntry[] = [
  { name: "alice", role: "operator", sha256: hashOfToken(alices) },
  { name: "bob", role: "viewer", sha256: hashOfToken(bobs) },
];

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
      const found = identify(header, entries);
      assert.equal(found.kind === "actor" ? found.actor.name : found.why, says);
    });
  }
  it("names nobody where the list is empty", () => {
    assert.deepEqual(identify(`Bearer ${alices}`, []), { kind: "refused", why: "unknown" });
  });
});

describe("a role", () => {
  it("may do what it and the roles before it may", () => {
    const actor = (role: Actor["role"]): Actor => ({ name: "x", role, by: "token", names: null });
    const roles: readonly Role[] = ["viewer", "operator", "admin", "acme"];
    const table = roles.map((role) => roles.map((needed) => suffices(actor(role), needed)));
    assert.deepEqual(table, [
      [true, false, false, false],
      [true, true, false, false],
      [true, true, true, true],
      [false, false, false, true],
    ]);
  });
});
