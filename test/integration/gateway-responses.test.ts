/** Stored responses behind a gateway: their place is in the store before a client can ask for what follows them. */
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createReplicas } from "#edge-agent/gateway/replicas.ts";
import { systemClock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import { responseKey } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createLabels, ephemeralLabelKeys } from "#shared/pin-token.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { type RunningSimulator, SIMULATED_MODEL, startSimulator } from "#test/support/engine-simulators.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { openGateway, REGION, REGION_HOST, type TestGateway } from "#test/support/gateway.ts";
import { until } from "#test/support/until.ts";

const labels = createLabels(ephemeralLabelKeys());
const store = createFallibleStore(createMemoryStore(systemClock));
/** The key of the newest response's place, once the store is asked to put it. */
let asked = "";
/** A store behind a long line; far from what a gateway waits for it. */
const SLOW_MS = 50;
let engine: RunningSimulator;
let gateway: TestGateway;

before(async () => {
  engine = await startSimulator({ replicas: 1 });
  const replicas = createReplicas({
    ...{ region: REGION as RegionId, gateway: "gateway-1", models: new Map(), queue: { factor: 3, floorMs: 60_000 } },
    engines: [
      {
        origin: engine.origin,
        address: `127.0.0.1:${engine.port}`,
        apiKey: null,
        engine: "auto",
        slots: null,
        isRouter: false,
      },
    ],
    ...{ store, labels, clock: systemClock, log: silentLogger, metrics: createMetrics(), random: Math.random },
    reportKey: () => null,
  });
  gateway = await openGateway({ replicas, store });
});
after(async () => {
  await gateway[Symbol.asyncDispose]();
  await engine[Symbol.asyncDispose]();
});
/** What came, and whether the store knew where the response lies when its client had all of it. */
type Come = { readonly text: string; readonly wasKnown: boolean };

const ask = (stream: boolean): Promise<Come> =>
  new Promise((resolve, reject) => {
    const headers = { host: REGION_HOST, "content-type": "application/json" };
    const sent = request({ port: gateway.port, method: "POST", path: "/v1/responses", headers }, (answer) => {
      let text = "";
      let known: Promise<boolean> | null = null;
      answer.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        if (isWhole(text)) known ??= isKnown();
      });
      answer.on("end", async () => resolve({ text, wasKnown: (await known) === true }));
      answer.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(JSON.stringify({ model: SIMULATED_MODEL, input: "Tell me more.", stream, max_output_tokens: 8 }));
  });

/** A store that is away knows nothing. */
const isKnown = (): Promise<boolean> =>
  store.get(asked).then(
    (stored) => stored !== null,
    () => false,
  );
const isWhole = (text: string): boolean => /"status":"(?:completed|incomplete)","incomplete_details"/.test(text);

/** What the store does before it puts a response's place. */
const beforePut = (act: () => Promise<unknown> | undefined): void => {
  asked = "";
  store.before = async (operation, key) => {
    if (operation !== "put" || !key.includes(":response:")) return;
    asked = key;
    await act();
  };
};

const idIn = (text: string): string => /"id":"(resp_[^"]+)"/.exec(text)?.[1] ?? assert.fail(`no id in ${text}`);

describe("a response that its engine stores", () => {
  for (const stream of [true, false]) {
    it(`is whole for its client once the store knows where it lies, ${stream ? "streamed" : "in one piece"}`, async () => {
      beforePut(() => pause(SLOW_MS));
      const { text, wasKnown } = await ask(stream);
      assert.equal(wasKnown, true);
      assert.equal(asked, responseKey(labels.conversationIdOf("response", idIn(text))));
    });
  }
  it("does not wait long for a store that says nothing, and is told of later", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    beforePut(() => promise);
    assert.equal((await ask(true)).wasKnown, false);
    resolve();
    await until(isKnown, "the store to know");
  });
  it("does not wait for a store that is away", async () => {
    beforePut(() => undefined);
    store.isAway = true;
    assert.equal((await ask(false)).wasKnown, false);
    store.isAway = false;
  });
});
