/**
 * The page in Chromium: its weight, its first paint that means something, and its long tasks (over 50 ms) in the live view at
 * 1 000 decisions a second and while 10 000 conversations are scrolled through, beside those of a page that does nothing meanwhile.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type CDPSession, chromium, type Page } from "playwright-core";
import { systemClock } from "#shared/clock.ts";
import { listConversation } from "#shared/conversation-index.ts";
import { ownerOf, packed } from "#shared/conversation-record.ts";
import { ConversationId, ModelId, PoolName } from "#shared/ids.ts";
import { conversationKey, KEYS } from "#shared/keys.ts";
import { regionId } from "#test/support/builders.ts";
import { SIMULATED_ALIAS, SIMULATED_MODEL } from "#test/support/engine-simulators.ts";
import { type House, startHouse } from "#test/support/house.ts";
import { until } from "#test/support/until.ts";
import type { ClientReply } from "./admin-clients.ts";
import { type Bench, type BenchRow, median } from "./bench.ts";
import { ask, forked } from "./children.ts";

const MANY = 10_000;
const OPENED = 5;
const WATCHED_MS = 6_000;
const ROUNDS = 2;

const row = (what: string, value: number, unit: string, bound: string | null = null): BenchRow => ({
  ...{ what, value, unit, bound },
  ...{ against: null, ratio: null },
});

/** Long tasks of the page's main thread, and when the table of the overview was first there, both by the page's own clock. */
const OBSERVE = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) globalThis.longTasks.push(duration);
  }).observe({ type: "longtask", buffered: true });
  const seen = new MutationObserver(() => {
    if (document.querySelector("main table tbody tr") === null) return;
    seen.disconnect();
    requestAnimationFrame(() => { globalThis.meaningfulAtMs = performance.now(); });
  });
  seen.observe(document, { childList: true, subtree: true });
`;

type Tasks = {
  /** As PerformanceObserver tells them: over 50 ms by the clock, whoever had the processor meanwhile. */
  readonly long: number;
  readonly longestMs: number;
  /** The longest by the processor time of the page's main thread: what is the page's own. */
  readonly busiestMs: number;
};
type TraceEvent = { readonly name: string; readonly pid: number; readonly tid: number; readonly tdur?: number };

/** What the main thread does meanwhile. */
const tasksDuring = async (page: Page, act: () => Promise<void>): Promise<Tasks> => {
  const browser = page.context().browser();
  if (browser === null) throw new Error("the page belongs to no browser");
  await page.evaluate("globalThis.longTasks.splice(0)");
  await browser.startTracing(page, { categories: ["toplevel", "__metadata"] });
  await act();
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as { traceEvents: readonly TraceEvent[] };
  const durations = (await page.evaluate("globalThis.longTasks.splice(0)")) as readonly number[];
  const named = traceEvents.filter(
    (one) => one.name === "thread_name" && (one as { args?: { name?: string } }).args?.name === "CrRendererMain",
  );
  const mains = new Set(named.map(({ pid, tid }) => `${pid} ${tid}`));
  let busiestMs = 0;
  for (const { pid, tid, tdur = 0 } of traceEvents) {
    if (mains.has(`${pid} ${tid}`)) busiestMs = Math.max(busiestMs, tdur / 1_000);
  }
  return { long: durations.length, longestMs: Math.max(0, ...durations), busiestMs };
};

const fill = async ({ store }: House): Promise<void> => {
  const owner = ownerOf("acme", PoolName.parse("chat"));
  for (let at = 0; at < MANY; at++) {
    const id = ConversationId.parse(at.toString(32).padStart(13, "0"));
    const [region, tokens, atMs] = [regionId("us-east"), 500 + at, systemClock.monotonicMs() - at * 50];
    const about = { id, model: ModelId.parse(SIMULATED_MODEL), turns: 3, lastTurnAtMs: atMs, rev: 1, refusedBy: [] };
    const one = { ...about, holdings: [{ region, replica: null, tokens, atMs }] as const };
    await store.put(conversationKey(id), packed(one, owner, 1, systemClock.monotonicMs()), KEYS.conversation.ttlMs);
    await listConversation(store, {
      ...{ id, region, contextTokens: tokens },
      lastTurnEpochMs: systemClock.epochMs() - at * 50,
    });
  }
};

const weigh = async (page: Page, origin: string): Promise<number> => {
  let octets = 0;
  page.on("response", (response) => {
    if (!response.url().includes("/api/")) octets += Number(response.headers()["content-length"] ?? 0);
  });
  await page.goto(`${origin}/`);
  // What is fetched last are the drawings.
  await page.locator("path.land").waitFor({ state: "attached" });
  await page.locator(".uplot").first().waitFor();
  page.removeAllListeners("response");
  return octets;
};

type Paint = { readonly atMs: number /** Of the page's main thread until then. */; readonly processorMs: number };

const paintOf = async (page: Page, cdp: CDPSession, origin: string): Promise<Paint> => {
  await page.goto("about:blank");
  const before = await mainThreadMs(cdp);
  await page.goto(`${origin}/`);
  // A predicate that the page itself evaluates is what its CSP forbids.
  await until(async () => (await page.evaluate("globalThis.meaningfulAtMs > 0")) === true, "the regions' table");
  const processorMs = (await mainThreadMs(cdp)) - before;
  return { atMs: (await page.evaluate("globalThis.meaningfulAtMs")) as number, processorMs };
};

/** Processor time, since the domain is that of thread ticks. */
const mainThreadMs = async (cdp: CDPSession): Promise<number> => {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1_000;
};

const open = async (page: Page, origin: string, hash: string): Promise<void> => {
  await page.goto("about:blank");
  await page.goto(`${origin}/#/${hash}`);
  await page.locator("h2").first().waitFor();
  await pause(1_500);
};

const heapBytes = async (cdp: CDPSession): Promise<number> => {
  await cdp.send("HeapProfiler.collectGarbage");
  return (await cdp.send("Runtime.getHeapUsage")).usedSize;
};

const scrollThrough = async (page: Page): Promise<void> => {
  const box = page.locator(".window");
  await box.waitFor();
  const isAll = async (): Promise<boolean> =>
    (await page.getByText(/^10.000 conversations$/).count()) > 0 &&
    (await box.evaluate((one) => one.scrollTop + one.clientHeight >= one.scrollHeight - 2));
  while (!(await isAll())) await box.evaluate((one) => one.scrollBy(0, 6_000));
};

export const bench: Bench = {
  name: "admin-page",
  run: async () => {
    await using house = await startHouse({ regions: { probe: null } });
    await fill(house);
    const { origin } = new URL(house.adminUrl);
    const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
    const page = await browser.newPage({ viewport: { width: 1300, height: 900 } });
    await page.addInitScript(OBSERVE);
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
    const octets = await weigh(page, origin);
    const paints: Paint[] = [];
    for (let nth = 0; nth < OPENED; nth++) paints.push(await paintOf(page, cdp, origin));
    using pacer = forked("admin-clients.ts");
    await ask<ClientReply>(pacer, { kind: "pace", frontUrl: house.frontUrl, perSecond: 1_000, model: SIMULATED_ALIAS });
    const [idle, live]: [Tasks[], Tasks[]] = [[], []];
    let grownBytes = 0;
    for (let round = 0; round < ROUNDS; round++) {
      // What a page that shows a form and nothing else meets is the machine's.
      await open(page, origin, "explain");
      idle.push(await tasksDuring(page, () => pause(WATCHED_MS)));
      await open(page, origin, "decisions");
      const before = await heapBytes(cdp);
      live.push(await tasksDuring(page, () => pause(WATCHED_MS)));
      grownBytes = Math.max(grownBytes, (await heapBytes(cdp)) - before);
    }
    const stopped = await ask<ClientReply>(pacer, { kind: "stop" });
    await open(page, origin, "conversations?region=us-east");
    const scrolled = await tasksDuring(page, () => scrollThrough(page));
    await browser.close();
    const rowsOf = (what: string, all: readonly Tasks[]): readonly BenchRow[] => [
      row(
        `${what}: long tasks`,
        all.reduce((sum, { long }) => sum + long, 0),
        "tasks",
      ),
      row("… the longest, by the clock", Math.max(...all.map(({ longestMs }) => longestMs)), "ms"),
      row("… the longest, processor time", Math.max(...all.map(({ busiestMs }) => busiestMs)), "ms", "≤ 50"),
    ];
    const seconds = (ROUNDS * WATCHED_MS) / 1_000;
    return [
      row("the page, compressed, in all", octets / 1_000, "KB", "≤ 120"),
      row(
        `first paint of the regions' table, median of ${OPENED}`,
        median(paints.map(({ atMs }) => atMs)),
        "ms",
        "≤ 1000",
      ),
      row("… processor time of the page", median(paints.map(({ processorMs }) => processorMs)), "ms"),
      row("background", stopped.kind === "stopped" ? stopped.perSecond : 0, "decisions/s"),
      ...rowsOf(`an idle page, ${seconds} s`, idle),
      ...rowsOf(`the live view, ${seconds} s`, live),
      row("heap of the live view, grown while watched, collected", grownBytes / 1_000, "KB"),
      ...rowsOf("10 000 conversations, scrolled to the end", [scrolled]),
    ];
  },
};
