/** Whose request it is and where it comes from: believed of trusted proxies alone. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type FrontDoorWish, startFrontDoor } from "#test/support/front-door.ts";
import { type Asked, ask, FRONT_HOST } from "#test/support/http-ask.ts";
import { askRaw } from "#test/support/raw-http.ts";

const HEAD = `POST /v1/chat/completions HTTP/1.1\r\nHost: ${FRONT_HOST}\r\n`;

describe("two tenants that use the same name", () => {
  const idsOf = async (wish: FrontDoorWish, headers: readonly Asked["headers"][]): Promise<readonly unknown[]> => {
    await using front = await startFrontDoor(wish);
    for (const one of headers) await ask(front, { headers: { "X-Conversation-Id": "c1", ...one } });
    return front.entries.map(({ query }) => query.conversationId);
  };
  it("are kept apart by their credentials, in whichever header these come", async () => {
    const ids = await idsOf({}, [
      { Authorization: "Bearer sk-a" },
      { Authorization: "Bearer sk-b" },
      {},
      { "x-api-key": "sk-a" },
    ]);
    assert.equal(new Set(ids).size, 3);
    assert.equal(ids[0], ids[3], "one credential is one tenant");
  });
  it("are kept apart by the header that a trusted proxy sets", async () => {
    const wish = { tenantHeader: "X-Tenant", trustedProxies: ["127.0.0.1"] };
    const ids = await idsOf(wish, [
      { "X-Tenant": "a" },
      { "X-Tenant": "b" },
      { "X-Tenant": "a", Authorization: "Bearer x" },
    ]);
    assert.equal(new Set(ids).size, 2);
    assert.equal(ids[0], ids[2]);
  });
  it("cannot name each other where nobody is trusted to", async () => {
    const ids = await idsOf({ tenantHeader: "x-tenant" }, [{ "X-Tenant": "a" }, {}]);
    assert.equal(new Set(ids).size, 1);
  });
});

describe("X-Forwarded-For", () => {
  const cases: readonly {
    readonly from: string;
    readonly trustedProxies: FrontDoorWish["trustedProxies"];
    readonly forwardedFor: readonly string[];
    readonly expected: string;
  }[] = [
    { from: "a stranger", trustedProxies: [], forwardedFor: ["198.51.100.7"], expected: "127.0.0.0/24" },
    {
      from: "a stranger who claims a trusted one's address",
      trustedProxies: ["10.0.0.0/8"],
      forwardedFor: ["198.51.100.7, 10.0.0.1"],
      expected: "127.0.0.0/24",
    },
    {
      from: "a trusted proxy",
      trustedProxies: ["127.0.0.1"],
      forwardedFor: ["198.51.100.7"],
      expected: "198.51.100.0/24",
    },
    {
      from: "two trusted proxies, of a client that forged one more",
      trustedProxies: ["127.0.0.0/8", "10.0.0.0/8"],
      forwardedFor: ["203.0.113.66, 198.51.100.7, 10.1.2.3"],
      expected: "198.51.100.0/24",
    },
    {
      from: "a trusted proxy that adds a second header",
      trustedProxies: ["127.0.0.1"],
      forwardedFor: ["203.0.113.66", "198.51.100.7"],
      expected: "198.51.100.0/24",
    },
    {
      from: "a trusted proxy, of a client of IPv6",
      trustedProxies: ["127.0.0.1"],
      forwardedFor: ["[2001:db8:1:2::7]:443"],
      expected: "2001:db8:1::/48",
    },
    {
      from: "a trusted proxy that passes nonsense on",
      trustedProxies: ["127.0.0.1"],
      forwardedFor: ["203.0.113.66, unknown"],
      expected: "127.0.0.0/24",
    },
  ];
  for (const { from, trustedProxies, forwardedFor, expected } of cases) {
    it(`says that the client is in ${expected} when it comes from ${from}`, async () => {
      await using front = await startFrontDoor({ ...(trustedProxies === undefined ? {} : { trustedProxies }) });
      const fields = forwardedFor.map((value) => `X-Forwarded-For: ${value}\r\n`).join("");
      await askRaw(front.port, `${HEAD}${fields}\r\n`);
      assert.equal(front.entries[0]?.query.clientSubnet, expected);
    });
  }
});
