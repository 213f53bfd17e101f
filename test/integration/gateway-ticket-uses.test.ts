/** One ticket at two gateways of its region, as the shipped users of a real Redis: good for one use at both together, where that is wished. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { request } from "undici";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { createTicketSealer, TicketClaims } from "#shared/ticket.ts";
import { regionTicketKeysText, ticketRingOf } from "#shared/ticket-keys.ts";
import { regionId } from "#test/support/builders.ts";
import { openGateway, REGION, REGION_HOST, type TestGateway } from "#test/support/gateway.ts";
import { keyFolder, ringKey } from "#test/support/key-folder.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { plainReplicas } from "#test/support/plain-replicas.ts";
import { type RedisServer, startRedis } from "#test/support/redis.ts";
import { makeRedisUsers, type RedisUsers } from "#test/support/redis-users.ts";
import { saying, startTalkingEngine, type TalkingEngine } from "#test/support/talking-engine.ts";
import { until } from "#test/support/until.ts";

const PATH = "/v1/models";
const ring = [ringKey(7)];
const home = regionId(REGION);
const folder = mkdtempSync(join(tmpdir(), "gtm-ticket-uses-"));
const ticketFile = join(folder, "ticket-paris.keys");
let redis: RedisServer;
let users: RedisUsers;
let engine: TalkingEngine;

before(async () => {
  writeFileSync(ticketFile, regionTicketKeysText(ticketRingOf(ring, home), home));
  users = await makeRedisUsers(join(folder, "users"), [REGION]);
  redis = await startRedis({ aclFile: users.aclFile, login: users.login("admin") });
  engine = await startTalkingEngine(saying({ data: [] }));
});
after(async () => {
  await engine[Symbol.asyncDispose]();
  await redis.stop();
  rmSync(folder, { recursive: true });
});

const sealed = (): Promise<string> =>
  createTicketSealer(ring).seal(
    home,
    TicketClaims.parse({
      ...{
        v: 1,
        method: "GET",
        host: REGION_HOST,
        path: PATH,
        pool: "chat",
        model: null,
        conversation: null,
        pin: null,
      },
      ...{ decision: "01JDXV3Z000000000000000001", predictedTtftMs: null, clientPrefix: "192.0.2.0/24" },
      ...{ headers: [["authorization", "Bearer k"]], alternates: [], outputTokens: null, promptTokens: null },
    }),
    Date.now(),
  );

type Two = AsyncDisposable & { readonly gateways: readonly [TestGateway, TestGateway] };

const openTwo = async (single_use: "process" | "region"): Promise<Two> => {
  const keys = keyFolder();
  const open = async (gateway: string): Promise<TestGateway> => {
    const by = { clock: systemClock, log: silentLogger, name: gateway };
    const store = openStore(StoreSettings.parse(users.store(`gateway-${REGION}`, redis.url)), by);
    await until(store.isUp, "the store");
    const { identity: identity_file, signing: signing_file } = keys.files;
    const settings = {
      gateway,
      tickets: { single_use },
      keys: { identity_file, signing_file, ticket_file: ticketFile },
    };
    return await openGateway({ replicas: plainReplicas([engine.origin]), store, settings });
  };
  const gateways = [await open("gw-1"), await open("gw-2")] as const;
  return {
    gateways,
    [Symbol.asyncDispose]: async () => {
      for (const one of gateways) await one[Symbol.asyncDispose]();
      keys[Symbol.dispose]();
    },
  };
};

/** @returns the status, and the code of the problem where it is one */
const use = async ({ port }: TestGateway, ticket: string): Promise<string> => {
  const headers = { host: REGION_HOST };
  const answer = await request(`http://127.0.0.1:${port}${PATH}?gtm_ticket=${ticket}`, { headers });
  const text = await answer.body.text();
  return answer.statusCode === 200 ? "200" : `${answer.statusCode} ${/used before/.exec(text)?.[0] ?? text}`;
};
const unshared = ({ metrics }: TestGateway): Promise<number> =>
  metricValue(metrics, "gtm_gateway_tickets_unshared_total");

describe("a ticket that was used at one gateway of its region", () => {
  it("is used up at the other, too, with single_use: region", async () => {
    await using two = await openTwo("region");
    const [first, other] = two.gateways;
    const ticket = await sealed();
    assert.equal(await use(first, ticket), "200");
    assert.equal(await use(other, ticket), "401 used before");
    assert.equal(await use(first, ticket), "401 used before");
    assert.equal(await use(other, await sealed()), "200");
    assert.deepEqual([await unshared(first), await unshared(other)], [0, 0]);
    assert.equal(await redis.cli("acl", "log"), "");
    const [key = ""] = (await redis.cli("--scan", "--pattern", "gtm:v1:ticket:*")).split("\n");
    const leftMs = Number(await redis.cli("pttl", key));
    assert.ok(leftMs > 0 && leftMs <= 22_000, `${leftMs} ms`);
  });
  it("is good for one use at each, with single_use: process", async () => {
    await using two = await openTwo("process");
    const ticket = await sealed();
    const used = await Promise.all(two.gateways.map((one) => use(one, ticket)));
    assert.deepEqual(used, ["200", "200"]);
  });
  it("opens while the store is away, once at each, counted and told", async () => {
    await using two = await openTwo("region");
    const [first, other] = two.gateways;
    redis.kill("SIGSTOP");
    const ticket = await sealed();
    assert.equal(await use(first, ticket), "200");
    assert.equal(await use(other, ticket), "200");
    assert.equal(await use(other, ticket), "401 used before");
    redis.kill("SIGCONT");
    assert.deepEqual([await unshared(first), await unshared(other)], [1, 1]);
    const told = first.log.lines.filter(({ fields }) => fields["operation"] === "ticket.use");
    assert.deepEqual(
      told.map(({ level }) => level),
      ["warn"],
    );
  });
});
