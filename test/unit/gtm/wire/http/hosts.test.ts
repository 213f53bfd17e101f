import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Pool } from "#gtm/domain/pool.ts";
import { siteFinder } from "#gtm/wire/http/hosts.ts";
import { PoolName } from "#shared/ids.ts";
import { aPool } from "#test/support/builders.ts";

const chat = aPool([], { name: PoolName.parse("chat") });
const code = aPool([], { name: PoolName.parse("code"), answer: "front" });
const pools = [chat, code];
const siteWith = (defaultPool: Pool | null) => siteFinder({ zoneName: "llm.example.org", pools, defaultPool });

describe("without a default pool", () => {
  const siteOf = siteWith(null);
  const cases: readonly { host: string | null; expected: unknown }[] = [
    { host: "front.llm.example.org", expected: { kind: "any" } },
    { host: "chat.front.llm.example.org", expected: { kind: "pool", pool: chat } },
    { host: "code.front.llm.example.org", expected: { kind: "pool", pool: code } },
    { host: "code.llm.example.org", expected: { kind: "pool", pool: code } },
    { host: "chat.llm.example.org", expected: null },
    { host: "p1abc.c.llm.example.org", expected: { kind: "label", label: "p1abc" } },
    { host: "a.b.c.llm.example.org", expected: null },
    { host: ".c.llm.example.org", expected: null },
    { host: "other.front.llm.example.org", expected: null },
    { host: "llm.example.org", expected: null },
    { host: "127.0.0.1", expected: null },
    { host: "front.llm.example.org.evil.example", expected: null },
    { host: "evil-front.llm.example.org", expected: null },
    { host: null, expected: null },
  ];
  for (const { host, expected } of cases) {
    it(`${host ?? "no host at all"} is ${expected === null ? "not ours" : "ours"}`, () => {
      assert.deepEqual(siteOf(host), expected);
    });
  }
});

describe("with a default pool", () => {
  const siteOf = siteWith(chat);
  for (const host of ["127.0.0.1", "[::1]", "localhost", "anything.example", "llm.example.org", null]) {
    it(`${host ?? "no host at all"} may mean any pool, the default first`, () => {
      assert.deepEqual(siteOf(host), { kind: "any" });
    });
  }
  it("the name of a pool that DNS answers with regions means that pool and no other", () => {
    assert.deepEqual(siteOf("chat.llm.example.org"), { kind: "pool", pool: chat });
  });
  it("a conversation's label is still that", () => {
    assert.deepEqual(siteOf("p1abc.c.llm.example.org"), { kind: "label", label: "p1abc" });
  });
});
