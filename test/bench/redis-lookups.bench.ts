/** The front door's 307 with every conversation looked up in Redis, against the same GTM with every conversation in its memory. */
import { setTimeout as pause } from "node:timers/promises";
import { SIMULATED_ALIAS } from "#test/support/engine-simulators.ts";
import { alternate, type Bench } from "./bench.ts";
import { ask, forked } from "./children.ts";
import type { LoadOrder, LoadResult } from "./http-load.ts";
import { type GtmProcess, metricOf, startRedisHouse } from "./redis-house.ts";

const PAIRS = 4;
const REQUESTS = 6_000;
const CONNECTIONS = 32;
/** Seven digits, as the load generator writes numbers. */
const BODY = JSON.stringify({ model: SIMULATED_ALIAS, messages: [{ role: "user", content: "Hello there" }] });

export const CHAT_OF_A_NUMBERED_CONVERSATION = [
  "POST /v1/chat/completions HTTP/1.1",
  "Host: front.gslb.example.org",
  "X-Conversation-Id: conversation-{number}",
  "Content-Type: application/json",
  `Content-Length: ${BODY.length}`,
  "",
  BODY,
].join("\r\n");

/** Until nothing waits to be written: what one measurement left behind is not the next one's. */
export const settled = async (gtm: GtmProcess): Promise<void> => {
  while ((await metricOf(gtm, "gtm_pins_waiting")) > 0) await pause(50);
};

export const bench: Bench = {
  name: "redis-lookups",
  run: async () => {
    await using house = await startRedisHouse();
    using load = forked("http-load.ts");
    const turns = async (gtm: GtmProcess, from: number): Promise<number> => {
      const numbers = { from, count: REQUESTS };
      const request = CHAT_OF_A_NUMBERED_CONVERSATION;
      const order: LoadOrder = { port: gtm.http, request, numbers, connections: CONNECTIONS, requests: REQUESTS };
      const { perSecond } = await ask<LoadResult>(load, order);
      await settled(gtm);
      return perSecond;
    };
    // Another GTM places them all: the one that is measured knows none, and Redis all.
    const known = (PAIRS + 2) * REQUESTS;
    {
      await using other = await house.startGtm("other");
      for (let from = 0; from < known; from += REQUESTS) await turns(other, from);
    }
    await using gtm = await house.startGtm("measured");
    let next = 0;
    const miss = (): Promise<number> => {
      next += REQUESTS;
      return turns(gtm, next - REQUESTS);
    };
    await miss();
    const found = (): Promise<number> => metricOf(gtm, 'gtm_conversation_lookups_total{outcome="found"}');
    const foundBefore = await found();
    const { a, b, ratio } = await alternate(PAIRS, miss, () => turns(gtm, 0));
    const share = ((await found()) - foundBefore) / ((PAIRS + 1) * REQUESTS);
    return [
      {
        what: `307, every conversation found in Redis (${(share * 100).toFixed(1)} % were, the rest too late)`,
        value: a,
        unit: "requests/s",
        against: `every conversation in memory, ${Math.round(b)} requests/s`,
        ratio,
        bound: "≥ 0.5",
      },
    ];
  },
};
