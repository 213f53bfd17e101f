/** What names are answered while the world changes: cells, labels, last resorts, and what is recorded of it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Region } from "#gtm/domain/region.ts";
import { MODEL, regionId } from "#test/support/builders.ts";
import { askUdp, type QueryWish, type Reply, subnetOption } from "#test/support/dns-client.ts";
import { type RunningDns, startDns } from "#test/support/dns-zone.ts";

const FRANKFURT = { options: subnetOption(1, 24, [192, 0, 2]) };
const SINGAPORE = { options: subnetOption(1, 24, [203, 0, 113]) };
const ask = (dns: RunningDns, name: string, wish: QueryWish = {}): Promise<Reply> =>
  askUdp(dns, { name: `${name}.gslb.example.org`, opt: FRANKFURT, ...wish });
const down =
  (...ids: readonly string[]) =>
  (region: Region): Region =>
    ids.length === 0 || ids.includes(region.id) ? { ...region, admin: "down" } : region;
const ttlOf = ({ packet }: Reply): number | undefined => {
  const [first] = packet.answers ?? [];
  return first !== undefined && "ttl" in first ? first.ttl : undefined;
};
const nowMs = (dns: RunningDns): number => dns.clock.monotonicMs();
const homeIn = (dns: RunningDns, region: string, label: string) => {
  const { conversation } = dns.labels.read(label);
  dns.remember({
    id: conversation,
    model: MODEL,
    holdings: [{ region: regionId(region), replica: null, tokens: 9_000, atMs: nowMs(dns) }],
    turns: 2,
    lastTurnAtMs: nowMs(dns),
    rev: 2,
    refusedBy: [],
  });
};
const minted = (dns: RunningDns, region: string, name = "one", pool = "chat"): string => {
  const conversation = dns.labels.conversationIdOf("acme", name);
  const poolName = dns.options.pools.find((one) => one.name === pool)?.name;
  assert.ok(poolName !== undefined);
  return dns.labels.mint({ pool: poolName, region: regionId(region), conversation, issuedAtMs: dns.clock.epochMs() });
};

describe("a pool's name asked again and again from one area", () => {
  it("is decided once, answered many times and recorded once, with the count going on", async () => {
    await using dns = await startDns();
    for (let i = 0; i < 5; i++) assert.deepEqual((await ask(dns, "chat")).data, ["192.0.2.10"]);
    assert.equal(dns.entries.length, 1);
    const [entry] = dns.entries;
    assert.equal(entry?.answered.value, 5);
    assert.deepEqual(
      [entry?.query.channel, entry?.query.kind, entry?.query.clientSubnet],
      ["dns", "cell", "192.0.2.0/24"],
    );
  });

  it("shares its decision with every network of the area", async () => {
    await using dns = await startDns();
    await ask(dns, "chat", { opt: SINGAPORE });
    await ask(dns, "chat", { opt: { options: subnetOption(1, 24, [203, 0, 112]) } });
    assert.deepEqual(
      dns.entries.map(({ answered }) => answered.value),
      [2],
    );
  });

  it("is decided anew at once when a region's candidacy changes", async () => {
    await using dns = await startDns();
    assert.deepEqual((await ask(dns, "chat")).data, ["192.0.2.10"]);
    dns.setRegions(down("frankfurt"));
    assert.deepEqual((await ask(dns, "chat")).data, ["192.0.2.20"]);
    assert.deepEqual(
      dns.entries.map(({ answered }) => answered.value),
      [1, 1],
    );
  });

  it("is otherwise decided anew at most once a second", async () => {
    await using dns = await startDns();
    await ask(dns, "chat");
    dns.clock.advance(900);
    dns.touchWorld();
    await ask(dns, "chat");
    assert.equal(dns.entries.length, 1);
    dns.clock.advance(100);
    dns.touchWorld();
    await ask(dns, "chat");
    assert.equal(dns.entries.length, 2);
  });

  it("keeps the region it had when another has become a little cheaper", async () => {
    await using dns = await startDns();
    const backlog =
      (frankfurtMs: number, virginiaMs: number) =>
      (region: Region): Region => {
        const averageBacklogMs =
          region.id === "frankfurt" ? frankfurtMs : region.id === "virginia" ? virginiaMs : 99_000;
        return {
          ...region,
          placements: new Map(
            [...region.placements].map(([id, one]) => [
              id,
              { ...one, averageBacklogMs, longAverageBacklogMs: averageBacklogMs },
            ]),
          ),
        };
      };
    dns.setRegions(backlog(99_000, 0));
    assert.deepEqual((await ask(dns, "chat")).data, ["192.0.2.20"]);
    // Virginia is now 30 ms dearer than Frankfurt: less than the margin.
    dns.setRegions(backlog(380, 40));
    const kept = dns.entries.at(-1);
    assert.deepEqual((await ask(dns, "chat")).data, ["192.0.2.20"], JSON.stringify(kept?.decision.considered));
    dns.setRegions(backlog(0, 70_000));
    assert.deepEqual((await ask(dns, "chat")).data, ["192.0.2.10"]);
  });

  it("is answered for 20 s when steady and for 5 s while the region is degraded", async () => {
    await using dns = await startDns();
    assert.equal(ttlOf(await ask(dns, "chat")), 20);
    dns.setRegions((region) => ({ ...region, health: "degraded" }));
    assert.equal(ttlOf(await ask(dns, "chat")), 5);
  });
});

describe("a conversation's label", () => {
  it("is answered with its home, whoever asks, scope 0, for 20 s", async () => {
    await using dns = await startDns();
    const label = minted(dns, "singapore");
    homeIn(dns, "virginia", label);
    for (const opt of [FRANKFURT, SINGAPORE]) {
      const reply = await ask(dns, `${label}.c`, { opt });
      assert.deepEqual([reply.data, reply.scope, ttlOf(reply)], [["192.0.2.20"], 0, 20]);
    }
    assert.deepEqual(
      dns.entries.map(({ decision }) => decision.verdict.kind),
      ["pinned"],
    );
  });

  it("is answered with its home's IPv6, or NODATA where home has none", async () => {
    await using dns = await startDns();
    homeIn(dns, "virginia", "abc");
    homeIn(dns, "singapore", "def");
    assert.deepEqual((await ask(dns, "abc.c", { type: 28 })).data, ["2001:db8:20::20"]);
    const none = await ask(dns, "def.c", { type: 28 });
    assert.deepEqual([none.rcode, none.data, none.soa?.ttl], [0, [], 30]);
  });

  it("is answered with the region its token names while the ledger knows nothing", async () => {
    await using dns = await startDns();
    assert.deepEqual((await ask(dns, `${minted(dns, "singapore")}.c`)).data, ["192.0.2.30"]);
  });

  it("is read in any letter case", async () => {
    await using dns = await startDns();
    assert.deepEqual((await ask(dns, `${minted(dns, "singapore").toUpperCase()}.C`)).data, ["192.0.2.30"]);
  });

  it("whose token is older than the ledger's memory is answered like a stranger's", async () => {
    await using dns = await startDns();
    const label = minted(dns, "singapore");
    dns.clock.advance(3_700_000);
    const reply = await ask(dns, `${label}.c`);
    assert.deepEqual([reply.data, reply.scope], [["192.0.2.10"], 24]);
  });

  it("that nobody knows is answered like the pool's name: by the client's cell, with its scope, for 5 s", async () => {
    await using dns = await startDns();
    const near = await ask(dns, "stranger.c");
    assert.deepEqual([near.data, near.scope, ttlOf(near)], [["192.0.2.10"], 24, 5]);
    const far = await ask(dns, "stranger.c", { opt: SINGAPORE });
    assert.deepEqual([far.data, far.scope, ttlOf(far)], [["192.0.2.30"], 20, 5]);
    assert.equal(ttlOf(await ask(dns, "chat")), 20, "the pool's own name keeps its TTL");
  });

  it("of another pool is answered like that pool's name", async () => {
    await using dns = await startDns();
    const label = minted(dns, "virginia", "one", "many");
    dns.clock.advance(3_700_000);
    assert.equal((await ask(dns, `${label}.c`)).data.length, 36);
  });

  it("leaves a home that went down, the same way for everybody", async () => {
    await using dns = await startDns();
    homeIn(dns, "singapore", "abc");
    assert.deepEqual((await ask(dns, "abc.c")).data, ["192.0.2.30"]);
    dns.setRegions(down("singapore"));
    const [near, far] = [await ask(dns, "abc.c"), await ask(dns, "abc.c", { opt: SINGAPORE })];
    assert.deepEqual(near.data, far.data);
    assert.notDeepEqual(near.data, ["192.0.2.30"]);
    assert.deepEqual([dns.entries.at(-1)?.decision.verdict.kind, ttlOf(near)], ["displaced", 5]);
  });

  it("is looked up at most once a second, and again at once when it got a home meanwhile and the second is over", async () => {
    let asked = 0;
    await using dns = await startDns({
      findConversation: () => {
        asked += 1;
        return null;
      },
    });
    for (let i = 0; i < 3; i++) await ask(dns, "abc.c");
    assert.equal(asked, 1);
    dns.clock.advance(1_000);
    dns.touchWorld();
    await ask(dns, "abc.c");
    assert.equal(asked, 2);
  });

  it("is answered like the pool's name where labels are off", async () => {
    await using dns = await startDns({ labels: null });
    const reply = await ask(dns, "abc.c");
    assert.deepEqual([reply.data, ttlOf(reply)], [["192.0.2.10"], 5]);
  });

  it("whose look-up fails is SERVFAIL, counted and logged, and the server goes on", async () => {
    await using dns = await startDns({ findConversation: () => Promise.reject(new Error("a bug")) });
    assert.equal((await ask(dns, "abc.c")).rcode, 2);
    assert.deepEqual(
      dns.log.lines.filter(({ level }) => level === "error").map(({ event }) => event),
      ["dns.answer-failed"],
    );
    assert.equal((await ask(dns, "chat")).rcode, 0);
  });
});

describe("an inquiry (why.<name>)", () => {
  const why = (dns: RunningDns, name: string, type = 16) => ask(dns, `why.${name}`, { type });

  it("tells region, verdict, lead, runner-up, decision and the data's age", async () => {
    await using dns = await startDns({ whyAllow: ["127.0.0.0/8"] });
    await ask(dns, "chat");
    dns.clock.advance(250);
    const { data } = await why(dns, "chat");
    const [entry] = dns.entries;
    assert.deepEqual(
      data.filter((text) => !text.startsWith("lead-ms=")),
      [
        "region=frankfurt",
        "verdict=placed",
        "answered-with=regions",
        "runner-up=virginia",
        `decision=${entry?.decision.id}`,
        "decision-age-ms=250",
        "report-age-ms=750",
      ],
    );
    assert.equal(entry?.answered.value, 1, "to ask why is not to be answered");
  });

  it("tells what is degraded, for how long, and how old the world is, while something is", async () => {
    const degraded = { degradations: [{ what: "store", ageMs: 9_000 }], worldAgeMs: 4_200, isWorldSaved: true };
    await using dns = await startDns({ whyAllow: ["127.0.0.0/8"], degraded: () => degraded });
    for (const name of ["chat", "other.c", "virginia.r"])
      assert.deepEqual((await why(dns, name)).data.slice(-2), ["store=away since=9s", "saved-world-age-ms=4200"]);
  });

  it("tells a label's decision", async () => {
    await using dns = await startDns({ whyAllow: ["127.0.0.0/8"] });
    homeIn(dns, "virginia", "abc");
    assert.deepEqual((await why(dns, "abc.c")).data.slice(0, 2), ["region=virginia", "verdict=pinned"]);
    assert.deepEqual((await why(dns, "other.c")).data.slice(0, 2), ["region=frankfurt", "verdict=placed"]);
  });

  it("of a fixed name says that nothing is decided there, and of no name is NXDOMAIN", async () => {
    await using dns = await startDns({ whyAllow: ["127.0.0.0/8"] });
    assert.deepEqual((await why(dns, "virginia.r")).data, ["steered=no"]);
    assert.equal((await why(dns, "nope")).rcode, 3);
    assert.deepEqual((await why(dns, "chat", 1)).data, []);
  });

  it("is REFUSED, with error 18, from a network that may not ask", async () => {
    await using dns = await startDns({ whyAllow: ["192.0.2.0/24", "2001:db8::/32"] });
    const reply = await why(dns, "chat");
    assert.deepEqual([reply.rcode, reply.extendedError], [5, 18]);
  });
});

describe("an apex with a pool", () => {
  it("answers A and AAAA like the pool's name", async () => {
    const { options } = await startDns().then(async (dns) => {
      await dns[Symbol.asyncDispose]();
      return dns;
    });
    await using dns = await startDns({ zone: { ...options.zone, apexPool: options.defaultPool.name } });
    const reply = await askUdp(dns, { name: options.zone.name, opt: FRANKFURT });
    assert.deepEqual([reply.data, reply.scope], [["192.0.2.10"], 24]);
  });
});
