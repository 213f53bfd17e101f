/** The whole product together: agents report, the GTM steers DNS and HTTP, every decision can be read, nothing is lost on the way. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import OpenAI from "openai";
import { request } from "undici";
import { askUdp } from "#test/support/dns-client.ts";
import { HOUSE_REGIONS, startHouse } from "#test/support/house.ts";
import { until } from "#test/support/until.ts";

const [EU, US] = HOUSE_REGIONS;

describe("a conversation from Frankfurt", () => {
  it("is placed near its client, returns with its context cached, and the record says why", async () => {
    await using house = await startHouse();
    const first = await house.ask({ conversation: "c1", tokens: 3_000 });
    assert.equal(first.status, 307);
    assert.deepEqual([first.headers["x-gtm-verdict"], first.headers["x-gtm-region"]], ["placed", "eu-central"]);
    const second = await house.ask({ conversation: "c1", tokens: 3_100 });
    assert.deepEqual([second.headers["x-gtm-verdict"], second.headers["x-gtm-region"]], ["pinned", "eu-central"]);
    assert.equal(second.headers["location"], `${house.engine("eu-central").origin}/v1/chat/completions`);
    const record = await house.decision(String(second.headers["x-gtm-decision"]));
    assert.equal(record.verdict.kind, "pinned");
    assert.equal(record.conversation?.home, "eu-central");
    assert.match(record.explanation, /^Stays in eu-central, which holds/);
    const costs = record.considered.map((one) => ("cost" in one ? one.cost.migrationMs : null));
    assert.equal(costs[0], 0);
    assert.ok((costs[1] ?? 0) > 300, `leaving would cost ${costs[1]} ms of recomputing`);
  });

  it("keeps its home from another continent, by redirect and by its name", async () => {
    await using house = await startHouse();
    await house.ask({ conversation: "c2", tokens: 30_000 });
    const abroad = await house.ask({ conversation: "c2", tokens: 30_100, from: "198.51.100.7" });
    assert.deepEqual([abroad.headers["x-gtm-verdict"], abroad.headers["x-gtm-region"]], ["pinned", "eu-central"]);
    const label = String(abroad.headers["x-gtm-pin"]);
    const { data } = await askUdp(house.dns, { name: `${label}.c.llm.test` });
    assert.deepEqual(data, [EU.address]);
  });

  it("leaves a region that is drained, at its next turn, and new ones follow", async () => {
    await using house = await startHouse();
    await house.ask({ conversation: "c3", tokens: 3_000 });
    assert.equal(await house.post("/regions/eu-central/drain", { mode: "drain-all", comment: "a test" }), 200);
    const after = await house.ask({ conversation: "c3", tokens: 3_100 });
    assert.deepEqual([after.headers["x-gtm-verdict"], after.headers["x-gtm-region"]], ["displaced", "us-east"]);
    assert.equal(await house.post("/regions/eu-central/undrain", { comment: "a test" }), 200);
    await until(async () => (await house.region("eu-central")).admin === "active");
  });
});

describe("a region whose agent dies", () => {
  it("grows stale, expires and serves nobody; when it reports again, it serves", async () => {
    await using house = await startHouse({ policy: { stale_after: "600ms", expired_after: "1500ms" } });
    await house.stopAgent("eu-central");
    await until(async () => (await house.region("eu-central")).health === "degraded", "stale");
    const stale = await house.ask({ conversation: "c4", tokens: 500 });
    assert.equal(stale.headers["x-gtm-region"], "eu-central", "a stale region still serves");
    await until(async () => ((await house.region("eu-central")).reportAgeMs ?? 0) > 1_500, "expired");
    const expired = await house.ask({ conversation: "c4", tokens: 600 });
    assert.deepEqual([expired.headers["x-gtm-verdict"], expired.headers["x-gtm-region"]], ["displaced", "us-east"]);
    await house.startAgent("eu-central");
    await until(async () => (await house.region("eu-central")).health === "healthy", "healthy again");
    const back = await house.ask({ conversation: "c5", tokens: 500 });
    assert.equal(back.headers["x-gtm-region"], "eu-central");
  });
});

describe("a region whose engine dies", () => {
  it("is left within its probe's three failures, by redirect and by DNS", async () => {
    await using house = await startHouse();
    await house.ask({ conversation: "c6", tokens: 500 });
    await house.engine("eu-central")[Symbol.asyncDispose]();
    await until(
      async () => (await house.ask({ conversation: "c6", tokens: 600 })).headers["x-gtm-region"] === "us-east",
      "by redirect",
    );
    await until(async () => {
      const { data } = await askUdp(house.dns, { name: "chat.llm.test" });
      return data.includes(US.address);
    }, "by DNS");
  });
});

describe("no region at all", () => {
  it("is answered 503 with every region's reason", async () => {
    await using house = await startHouse();
    for (const { id } of HOUSE_REGIONS) {
      const path = `/regions/${id}/down?override_rule=minRegionsPerModel`;
      assert.equal(await house.post(path, { comment: "a test" }), 200);
    }
    const answer = await house.ask({ conversation: "c7", tokens: 500 });
    assert.equal(answer.status, 503);
    for (const { id } of HOUSE_REGIONS) assert.match(answer.body, new RegExp(id));
    const { rcode } = await askUdp(house.dns, { name: "chat.llm.test" });
    assert.equal(rcode, 2, "SERVFAIL");
  });
});

describe("the OpenAI SDK with nothing but its base URL changed", () => {
  it("gets its answer, streamed and not, from the region that the front door names", async () => {
    await using house = await startHouse();
    const client = new OpenAI({
      baseURL: `${house.frontUrl}/v1`,
      apiKey: "any",
      defaultHeaders: { "x-conversation-id": "sdk", "x-forwarded-for": "198.51.100.7" },
      maxRetries: 0,
    });
    const ask = { model: "llama-3.3-70b", max_tokens: 4, messages: [{ role: "user" as const, content: "Hello" }] };
    const whole = await client.chat.completions.create(ask);
    assert.ok((whole.choices[0]?.message.content ?? "").length > 0);
    let streamed = "";
    for await (const chunk of await client.chat.completions.create({ ...ask, stream: true })) {
      streamed += chunk.choices[0]?.delta.content ?? "";
    }
    assert.ok(streamed.length > 0);
    const { replicas } = await house
      .engine("us-east")
      .until(({ replicas }) => replicas.every(({ running }) => running === 0));
    const finished = replicas.reduce((sum, { counters }) => sum + counters.finished.length + counters.finished.stop, 0);
    assert.equal(finished, 2);
  });
});

describe("the metrics listener", () => {
  it("counts what was decided, and is ready", async () => {
    await using house = await startHouse();
    await house.ask({ conversation: "c8", tokens: 500 });
    const page = await (await request(`${house.metricsUrl}/metrics`)).body.text();
    assert.match(page, /^gtm_decisions_total\{channel="http",pool="chat",region="eu-central",verdict="placed"\} 1$/m);
    const ready = await request(`${house.metricsUrl}/readyz?verbose`);
    assert.equal(ready.statusCode, 200);
    await ready.body.dump();
  });
});
