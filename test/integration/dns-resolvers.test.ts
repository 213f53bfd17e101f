/** Resolvers as people run them, strict ones too, before two GTMs that a real root and a real parent zone lead to. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  addressesOf,
  type DelegatedZone,
  type GtmName,
  gtmAddresses,
  type RegionName,
  ROOTS,
  startDelegatedZone,
  ZONE,
} from "#test/support/internet/delegated-zone.ts";
import { startKnotResolver, startNamedResolver, startUnbound } from "#test/support/internet/resolvers.ts";
import { until } from "#test/support/until.ts";

const FRANKFURT = "192.0.2.200";
const FRANKFURT_NEIGHBOUR = "192.0.2.201";
const VIRGINIA = "198.51.100.200";
const HERE: Readonly<Record<string, RegionName>> = { [FRANKFURT]: "eu-central", [VIRGINIA]: "us-east" };

type Reply = { readonly status: string; readonly answers: readonly string[]; readonly ttls: readonly number[] };

describe("resolvers before a delegated zone", { timeout: 110_000 }, () => {
  let internet: DelegatedZone;
  const stack = new AsyncDisposableStack();
  before(async () => {
    internet = stack.use(await startDelegatedZone());
    const at = (name: "unbound" | "named" | "kresd") => ({ host: internet.host(name), roots: ROOTS });
    const started = await Promise.all([
      startUnbound({ ...at("unbound"), subnetTo: gtmAddresses }),
      startNamedResolver(at("named")),
      startKnotResolver(at("kresd")),
    ]);
    for (const one of started) stack.use(one);
  });
  after(() => stack.disposeAsync());

  const askedAt = async (server: string, words: string): Promise<Reply> => {
    const said = await internet.dig(server, ...words.split(" "));
    const section = /^;; ANSWER SECTION:\n(.*?)\n\n/ms.exec(said)?.[1] ?? "";
    const records = section.split("\n").flatMap((line) => {
      const [, name, ttl, type, data] = /^(\S+)\s+(\d+)\s+IN\s+(\S+)\s+(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [{ ttl: Number(ttl), text: `${type} ${data}` }];
    });
    return {
      status: /status: ([A-Z]+)/.exec(said)?.[1] ?? said,
      answers: records.map(({ text }) => text),
      ttls: records.map(({ ttl }) => ttl),
    };
  };
  const [unbound = "", unboundSix = ""] = addressesOf("unbound");
  const from = (client: string, words: string): Promise<Reply> =>
    askedAt(client.includes(":") ? unboundSix : unbound, `-b ${client} ${words}`);
  const a = (region: RegionName): string => `A ${addressesOf(region)[0]}`;

  describe("unbound with strict minimisation, random case and client subnets", () => {
    for (const [client, region] of Object.entries(HERE)) {
      it(`leads a client at ${client} to ${region} by every type, and by the names of the pool's model and of the apex`, async () => {
        const [four, six] = addressesOf(region);
        for (const name of [`chat.${ZONE}`, `meta-llama-llama-3-3-70b-instruct.m.${ZONE}`, ZONE]) {
          assert.deepEqual((await from(client, `${name} A`)).answers, [`A ${four}`], name);
          assert.deepEqual((await from(client, `${name} AAAA`)).answers, [`AAAA ${six}`], name);
        }
        const service = `HTTPS 1 . alpn="h2,http/1.1" port=8443 ipv4hint=${four} ipv6hint=${six}`;
        assert.deepEqual((await from(client, `chat.${ZONE} HTTPS`)).answers, [service]);
      });
    }
    it("keeps an answer for the network that it is for, and asks nobody again", async () => {
      /** Told now, and long from running out. */
      const fresh = async (client: string): Promise<Reply> => {
        let reply = await from(client, `chat.${ZONE}`);
        await until(async () => {
          if ((reply.ttls[0] ?? 0) <= 10) reply = await from(client, `chat.${ZONE}`);
          return (reply.ttls[0] ?? 0) > 10;
        }, "an answer that holds");
        return reply;
      };
      const before = {
        frankfurt: await fresh(FRANKFURT),
        six: await fresh("2001:db8:4001::1"),
        virginia: await fresh(VIRGINIA),
      };
      internet.signalGtms("SIGSTOP");
      try {
        assert.deepEqual((await from(FRANKFURT_NEIGHBOUR, `chat.${ZONE}`)).answers, before.frankfurt.answers);
        assert.deepEqual((await from(VIRGINIA, `chat.${ZONE}`)).answers, before.virginia.answers);
        // Two /48s of one /36 that the operator located: one answer, by its scope.
        assert.deepEqual((await from("2001:db8:4002::1", `chat.${ZONE}`)).answers, before.six.answers);
      } finally {
        internet.signalGtms("SIGCONT");
      }
      assert.deepEqual((await from("2001:db8:5001::1", `chat.${ZONE}`)).answers, [a("us-east")]);
      assert.notDeepEqual(before.frankfurt.answers, before.virginia.answers);
    });
    it("gives a conversation's name to everybody alike, once it has a home", async () => {
      const url = `http://${addressesOf("ns1")[0]}:8080/v1/chat/completions`;
      const turn = ["-s", "-i", "-m", "10", "--interface", VIRGINIA, "-H", "x-conversation-id: mine", "-d", "{}", url];
      const { stdout } = await internet.host("asker").run(["curl", ...turn]);
      const pin = /^x-gtm-pin: (\S+)/im.exec(stdout)?.[1];
      assert.ok(pin !== undefined, stdout);
      for (const client of [VIRGINIA, FRANKFURT, "2001:db8:4001::1"])
        assert.deepEqual((await from(client, `${pin}.c.${ZONE}`)).answers, [a("us-east")], client);
      assert.equal((await from(FRANKFURT, `below.${pin}.c.${ZONE}`)).status, "NXDOMAIN");
    });
    it("gets by TCP what is too long for a datagram", async () => {
      const byTcp = (): Promise<number> => internet.counted("gtm_dns_queries_total", ['proto="tcp"', 'qtype="TXT"']);
      const before = await byTcp();
      const { answers } = await from(FRANKFURT, `long.${ZONE} TXT +bufsize=4096`);
      assert.equal(answers.join("").replaceAll(/\D/g, "").length, 1_500);
      // Counted every now and then.
      await until(async () => (await byTcp()) > before, "a query over TCP counted");
    });
  });

  for (const resolver of ["unbound", "named", "kresd"] as const) {
    describe(`${resolver} takes and gives on`, () => {
      const [server = ""] = addressesOf(resolver);
      const somewhere = new Set([a("eu-central"), a("us-east")]);
      const ROWS: readonly { readonly words: string; readonly status?: string; readonly answers: readonly string[] }[] =
        [
          { words: `docs.${ZONE} A`, answers: [`CNAME status.${ZONE}.`, "A 203.0.113.80"] },
          { words: `a.b.preview.${ZONE} AAAA`, answers: ["AAAA 2001:db8:80::80"] },
          { words: `_sip._tcp.${ZONE} SRV`, answers: [`SRV 10 5 5060 status.${ZONE}.`] },
          { words: `${ZONE} HTTPS`, answers: [`HTTPS 0 chat.${ZONE}.`] },
          { words: `us-east.r.${ZONE} A`, answers: [a("us-east")] },
          { words: `eu-central.r.${ZONE} AAAA`, answers: [`AAAA ${addressesOf("eu-central")[1]}`] },
          { words: `status.${ZONE} AAAA`, answers: [] },
          { words: `c.${ZONE} A`, answers: [] },
          { words: `chat.${ZONE} TYPE65280`, answers: [] },
          { words: `nobody.${ZONE} A`, status: "NXDOMAIN", answers: [] },
          { words: `below.chat.${ZONE} A`, status: "NXDOMAIN", answers: [] },
          { words: `below.stranger.c.${ZONE} A`, status: "NXDOMAIN", answers: [] },
        ];
      for (const { words, status = "NOERROR", answers } of ROWS) {
        it(`${words}: ${status} ${answers.join(", ")}`, async () => {
          const reply = await askedAt(server, words);
          assert.deepEqual([reply.status, reply.answers], [status, answers]);
        });
      }
      it("a pool's name, and that of a conversation that nobody knows: a region, kept for a minute at most", async () => {
        for (const name of ["chat", "stranger.c"]) {
          const { status, answers, ttls } = await askedAt(server, `${name}.${ZONE} A`);
          assert.ok(status === "NOERROR" && answers.length === 1 && somewhere.has(answers[0] ?? ""), name);
          assert.ok((ttls[0] ?? Number.NaN) <= 60);
        }
      });
      it("what it makes of ANY, which is never an amplification", async () => {
        const { status, answers } = await askedAt(server, `status.${ZONE} ANY`);
        // Knot Resolver refuses every ANY by itself. BIND gives the one record that it may know already.
        const expected: Readonly<Record<typeof resolver, readonly string[]>> = {
          unbound: ['NOERROR HINFO "RFC8482" ""'],
          named: ['NOERROR HINFO "RFC8482" ""', "NOERROR A 203.0.113.80"],
          kresd: ["SERVFAIL "],
        };
        assert.ok(expected[resolver].includes(`${status} ${answers.join(", ")}`), `${status} ${answers.join(", ")}`);
      });
    });
  }

  describe("while something breaks", () => {
    it("leads clients away from a region that dies, once what they were told has expired", async (t) => {
      await until(async () => (await from(VIRGINIA, `chat.${ZONE}`)).answers[0] === a("us-east"));
      const beganAt = performance.now();
      await internet.killRegion("us-east");
      await until(async () => (await from(VIRGINIA, `chat.${ZONE}`)).answers[0] === a("eu-central"));
      t.diagnostic(`another answer after ${Math.round(performance.now() - beganAt)} ms`);
      assert.deepEqual((await from(VIRGINIA, `us-east.r.${ZONE}`)).answers, [a("us-east")]);
    });
    const everyResolver = ["unbound", "named", "kresd"].flatMap((one) => addressesOf(one as "unbound").slice(0, 1));
    for (const killed of ["ns1", "ns2"] satisfies readonly GtmName[]) {
      it(`goes on with the other GTM when ${killed} is killed`, async () => {
        await internet.killGtm(killed);
        for (const server of everyResolver) {
          for (let at = 0; at < 5; at++) {
            const { status, answers } = await askedAt(server, `new-${killed}-${at}.c.${ZONE} A`);
            assert.deepEqual([status, answers.length], ["NOERROR", 1], `${server} without ${killed}`);
          }
        }
        await internet.startGtm(killed);
      });
    }
  });
});
