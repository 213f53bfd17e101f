/** What a gateway refuses although no GTM has heard of it: a GTM, a gateway and a Redis, each as a process. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { request } from "undici";
import { labelKeysOf, readKeys } from "#gtm/keys/key-files.ts";
import { factsOf, Snapshot } from "#gtm/wire/admin/snapshot.ts";
import { decideAgain, NO_CHANGES } from "#gtm/wire/admin/snapshot-decision.ts";
import { PoolName, RegionId } from "#shared/ids.ts";
import { createLabels } from "#shared/pin-token.ts";
import { freePort } from "#test/support/free-port.ts";
import { HOUSE_REGIONS, houseYaml } from "#test/support/house.ts";
import { type KeyFolder, keyFolder } from "#test/support/key-folder.ts";
import { startRedis } from "#test/support/redis.ts";
import { type RunningProgram, startProgram } from "#test/support/running-program.ts";
import { until } from "#test/support/until.ts";

const ZONE = "llm.test";
const [REFUSING, OTHER] = HOUSE_REGIONS;

/** As a client has kept it from long ago: the ledger has forgotten its conversation, and the label says where that lived. */
const labelIn = ({ files }: KeyFolder): string => {
  const keys = labelKeysOf(readKeys(files));
  assert.ok(keys !== null);
  const labels = createLabels(keys);
  const conversation = labels.conversationIdOf("default", "a chat that was forgotten");
  const [pool, region] = [PoolName.parse("chat"), RegionId.parse(REFUSING.id)];
  return labels.mint({ pool, region, conversation, issuedAtMs: Date.now() });
};

describe("a conversation that the ledger does not know", () => {
  const stack = new AsyncDisposableStack();
  after(() => stack.disposeAsync());
  let label = "";
  let gtm: RunningProgram;
  let gateway: RunningProgram;
  before(async () => {
    const redis = stack.use(await startRedis());
    const folder = stack.use(keyFolder());
    label = labelIn(folder);
    const keys = { identity_file: folder.files.identity, signing_file: folder.files.signing };
    const house = JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } }));
    const settings = { ...house, store: { url: redis.url }, keys };
    gtm = stack.use(await startProgram("gtm/main.ts", "serve", settings));
    const own = { version: 1, region: REFUSING.id, gateway: "g1", zone: ZONE, keys, store: { url: redis.url } };
    gateway = stack.use(
      await startProgram("edge-agent/main.ts", "gateway", {
        ...own,
        listen: [{ address: "127.0.0.1:0", tls: false }],
        // Nobody listens there: whatever comes is refused.
        engines: [{ url: `http://127.0.0.1:${await freePort()}` }],
        metrics: { listen: "127.0.0.1:0" },
      }),
    );
  });

  const post = async (url: string, headers: Readonly<Record<string, string>>, body: object) => {
    const answer = await request(url, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: answer.statusCode, headers: answer.headers, said: await answer.body.text() };
  };
  const turn = (program: RunningProgram, listener: string) =>
    post(`${program.url(listener)}/v1/chat/completions`, { host: `${label}.c.${ZONE}` }, {});
  /** Where its next turn would go, without making it. */
  const next = async (): Promise<string> => {
    const body = { pool: "chat", client: "203.0.113.7", conversation: label };
    const { status, said } = await post(
      `${gtm.url("admin")}/api/v1/explain`,
      { "content-type": "application/json" },
      body,
    );
    assert.equal(status, 200, said);
    return (JSON.parse(said) as { verdict: { region: string } }).verdict.region;
  };

  it("goes where its label says, until that region's gateway refuses it", async () => {
    assert.equal(await next(), REFUSING.id);
    assert.equal((await turn(gateway, "gateway")).status, 503);
    await until(async () => (await next()) === OTHER.id, "the refusal is heard");
  });
  it("is refused in a snapshot, too, and where that is decided again", async () => {
    const question = new URLSearchParams({ pool: "chat", client: "203.0.113.7", conversation: label });
    const answer = await request(`${gtm.url("admin")}/api/v1/snapshot?${question}`);
    const { facts, decision, epochMs } = Snapshot.parse(await answer.body.json());
    assert.equal(decision.verdict.region, OTHER.id);
    assert.deepEqual(JSON.parse(JSON.stringify(await decideAgain(factsOf(facts), epochMs, NO_CHANGES))), decision);
  });
  it("is redirected to another region meanwhile", async () => {
    const { status, headers, said } = await turn(gtm, "http");
    assert.equal(status, 307, said);
    assert.equal(headers["x-gtm-region"], OTHER.id);
    assert.equal(await gtm.metric("gtm_refusals_heard_total", { region: REFUSING.id }), 1);
  });
});
