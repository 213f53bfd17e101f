/** Clients in a process of their own: turns at a steady pace, and people who look at the admin API meanwhile. */
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { Pool, request } from "undici";

/** `pace`: turns until told to stop. `watch`: a list, an explanation and the live stream, as one page asks. `read`: the stream alone, by several pages. `ask`: so many times each. */
export type ClientOrder =
  | { readonly kind: "pace"; readonly frontUrl: string; readonly perSecond: number; readonly model: string }
  | { readonly kind: "watch"; readonly adminUrl: string; readonly everyMs: number }
  | { readonly kind: "read"; readonly adminUrl: string; readonly readers: number }
  | { readonly kind: "stop" }
  | { readonly kind: "ask"; readonly adminUrl: string; readonly times: number };

export type Percentiles = { readonly p50: number; readonly p99: number };
export type ClientReply =
  | { readonly kind: "begun" }
  /** Turns answered a second, or answers to whoever watched. */
  | { readonly kind: "stopped"; readonly perSecond: number }
  | { readonly kind: "asked"; readonly list: Percentiles; readonly explain: Percentiles };

const EXPLAIN = JSON.stringify({ pool: "chat", client: "192.0.2.7", prompt_tokens: 2_000 });
const CONVERSATIONS = 2_000;
const CONNECTIONS = 16;
/** A tick sends what is due since the one before. */
const TICK_MS = 5;

let running: { stop: () => Promise<number> } | null = null;

const pace = ({ frontUrl, perSecond, model }: Extract<ClientOrder, { kind: "pace" }>): typeof running => {
  const pool = new Pool(frontUrl, { connections: CONNECTIONS });
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "How far is it to the harbour?" }] });
  const from = performance.now();
  let [sent, answered, under] = [0, 0, 0];
  const send = async (): Promise<void> => {
    const headers = { "content-type": "application/json", "x-conversation-id": `c${sent % CONVERSATIONS}` };
    under += 1;
    const answer = await pool.request({ method: "POST", path: "/v1/chat/completions", headers, body });
    await answer.body.dump();
    [under, answered] = [under - 1, answered + 1];
  };
  const timer = setInterval(() => {
    const due = ((performance.now() - from) / 1_000) * perSecond;
    // Where the GTM cannot follow, no queue is built up: the rate that was reached is told.
    for (; sent < due && under < CONNECTIONS * 4; sent++) void send();
    sent = Math.max(sent, Math.floor(due));
  }, TICK_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      const perSecondReached = answered / ((performance.now() - from) / 1_000);
      while (under > 0) await pause(TICK_MS);
      await pool.close();
      return perSecondReached;
    },
  };
};

const list = async (adminUrl: string): Promise<void> => {
  await (await request(`${adminUrl}/conversations?limit=50&sort=tokens`)).body.dump();
};
const explain = async (adminUrl: string): Promise<void> => {
  const headers = { "content-type": "application/json" };
  await (await request(`${adminUrl}/explain`, { method: "POST", headers, body: EXPLAIN })).body.dump();
};

/** As the page does. @returns once it has ended: how many decisions were told */
const follow = async (adminUrl: string, signal: AbortSignal): Promise<number> => {
  let told = 0;
  const reading = request(`${adminUrl}/events?kinds=decision&per_second=20`, { signal }).then(async ({ body }) => {
    for await (const chunk of body) told += String(chunk).split("event: decision").length - 1;
  });
  return reading.then(
    () => told,
    () => told,
  );
};

const read = ({ adminUrl, readers }: Extract<ClientOrder, { kind: "read" }>): typeof running => {
  const leaving = new AbortController();
  const from = performance.now();
  const reading = Array.from({ length: readers }, () => follow(adminUrl, leaving.signal));
  return {
    stop: async () => {
      leaving.abort();
      const told = (await Promise.all(reading)).reduce((sum, one) => sum + one, 0);
      return told / ((performance.now() - from) / 1_000);
    },
  };
};

const watch = ({ adminUrl, everyMs }: Extract<ClientOrder, { kind: "watch" }>): typeof running => {
  const leaving = new AbortController();
  const from = performance.now();
  let answers = 0;
  const read = follow(adminUrl, leaving.signal).then((told) => {
    answers += told;
  });
  const ask = async (): Promise<void> => {
    while (!leaving.signal.aborted) {
      await list(adminUrl);
      await explain(adminUrl);
      answers += 2;
      await pause(everyMs);
    }
  };
  const asking = ask();
  return {
    stop: async () => {
      leaving.abort();
      await Promise.all([read, asking]);
      return answers / ((performance.now() - from) / 1_000);
    },
  };
};

const timed = async (times: number, act: () => Promise<void>): Promise<Percentiles> => {
  const took: number[] = [];
  for (let nth = 0; nth < times; nth++) {
    const from = performance.now();
    await act();
    took.push(performance.now() - from);
  }
  took.sort((a, b) => a - b);
  const at = (fraction: number): number => took[Math.min(times - 1, Math.floor(times * fraction))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
};

const replyTo = async (order: ClientOrder): Promise<ClientReply> => {
  switch (order.kind) {
    case "pace":
      running = pace(order);
      return { kind: "begun" };
    case "watch":
      running = watch(order);
      return { kind: "begun" };
    case "read":
      running = read(order);
      return { kind: "begun" };
    case "stop": {
      const perSecond = (await running?.stop()) ?? 0;
      running = null;
      return { kind: "stopped", perSecond };
    }
    case "ask":
      return {
        kind: "asked",
        list: await timed(order.times, () => list(order.adminUrl)),
        explain: await timed(order.times, () => explain(order.adminUrl)),
      };
  }
};

process.on("message", (order: ClientOrder) => {
  replyTo(order).then(
    (reply) => process.send?.(reply),
    (fault: unknown) => {
      process.stderr.write(`${String(fault)}\n`);
      process.exit(1);
    },
  );
});
