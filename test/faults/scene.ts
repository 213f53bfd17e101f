/** One fault played under traffic: what is done is noted, everything is left to recover, and the invariants are looked at. */
import assert from "node:assert/strict";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Said } from "./child.ts";
import { eventually } from "./eventually.ts";
import { figuresOf, type Play, violationsIn, WINDOW_MS } from "./findings.ts";
import type { GtmProcess } from "./gtm-process.ts";
import { type Down, type Gone, type GtmName, isAnswer, type Order, type Span } from "./history.ts";
import { createStoryLog, type StoryLog } from "./story-log.ts";
import { startTraffic, type Traffic } from "./traffic.ts";
import { isStoreWell, isWell, type World } from "./world.ts";

type Open<Of extends Span> = Omit<Of, "toMs"> & { toMs: number | null };

export type Scene = {
  readonly world: World;
  readonly traffic: Traffic;
  /** GTMs may not know of each other from now on, until both find nothing wrong with the store again. */
  readonly breaks: (what: string, act: () => unknown) => Promise<void>;
  /** Resolves when both find nothing wrong with the store. */
  readonly heals: (what: string, act: () => unknown) => Promise<void>;
  readonly does: (what: string, act: () => unknown) => Promise<void>;
  /** @returns the API's status */
  readonly orders: (gtm: GtmProcess, region: string, admin: Order["admin"]) => Promise<number>;
  /** Resolves when neither names it any more. */
  readonly dies: (region: string, how?: "dies" | "falls silent") => Promise<void>;
  readonly returns: (region: string) => Promise<void>;
  /** Resolves when it has ended. */
  readonly kills: (gtm: GtmProcess, signal: NodeJS.Signals) => Promise<void>;
  readonly starts: (gtm: GtmProcess) => Promise<void>;
  /** Each conversation has taken so many more turns. */
  readonly turns: (count: number) => Promise<void>;
  readonly until: (what: string, isTrue: () => boolean | Promise<boolean>) => Promise<void>;
};

const NS_PER_MS = 1e6;
let scenes = 0;

/** Half of the store's deadline: a play in which the test itself was away for longer shows the machine's faults. */
const STARVED_MS = 250;
const MOST_PLAYS = 3;

/**
 * Everything is played in real time, by processes that share this machine. Where something does not hold and the test itself was
 * not given the processor, the fault is played again; on a machine that is there all the time the first play counts.
 *
 * @throws {AssertionError} naming what does not hold
 */
export const play = async (world: World, title: string, tell: (scene: Scene) => Promise<void>): Promise<void> => {
  for (let plays = 1; ; plays++) {
    const { violations, lateMs } = await playOnce(world, title, tell);
    if (violations.length === 0) return;
    if (lateMs < STARVED_MS || plays === MOST_PLAYS) assert.deepEqual(violations, []);
  }
};

type Outcome = { readonly violations: readonly string[]; readonly lateMs: number };

const playOnce = async (world: World, title: string, tell: (scene: Scene) => Promise<void>): Promise<Outcome> => {
  const log = createStoryLog(title);
  const onSaid = (name: GtmName, said: Said): void => log.heard(name, said);
  world.listen(onSaid);
  scenes += 1;
  const delay = monitorEventLoopDelay();
  delay.enable();
  const traffic = startTraffic({ gtms: world.gtms, prefix: `s${scenes}` });
  const facts = createFacts(world, traffic, log);
  try {
    await facts.scene.turns(4);
    await tell(facts.scene);
    await eventually("two GTMs that find nothing wrong", () => isWell(world.gtms));
    log.note("all is well");
    const wellAtMs = performance.now();
    // From here on the stated window runs; then all must agree, and go on to.
    await eventually("the window's end", () => performance.now() - wellAtMs > WINDOW_MS);
    const settledAtMs = performance.now();
    await facts.scene.turns(4);
    const played = { ...facts.play(), settledAtMs, lateMs: delay.max / NS_PER_MS, standing: await standingOn(world) };
    await traffic.stop();
    log.figures(figuresOf(played));
    const violations = [...violationsIn(played), ...log.errors()];
    log.note(violations.length === 0 ? "every invariant holds" : `FAILED: ${violations.join("; ")}`);
    return { violations, lateMs: played.lateMs };
  } catch (fault) {
    log.note(`FAILED: ${fault instanceof Error ? fault.message : String(fault)}`);
    throw fault;
  } finally {
    delay.disable();
    await traffic.stop();
    world.listen(() => {});
    log.print();
  }
};

/** For each GTM, the admin state of each region. */
const standingOn = async (world: World): Promise<Play["standing"]> => {
  const standing = new Map<string, ReadonlyMap<string, string>>();
  for (const gtm of world.gtms) {
    const regions = (await gtm.status())?.regions ?? [];
    standing.set(gtm.name, new Map(regions.map(({ id, admin }) => [id, admin])));
  }
  return standing;
};

/** So many answers in a row, a second of them, name another region. */
const LEFT_AFTER = 60;
const isLeft = ({ history }: Traffic, { region, fromMs }: Down): boolean => {
  const last = history.filter(isAnswer).slice(-LEFT_AFTER);
  return last.length === LEFT_AFTER && last.every((told) => told.region !== region && told.askedAtMs > fromMs);
};

const createFacts = (world: World, traffic: Traffic, log: StoryLog) => {
  const { gtms } = world;
  const gone: Open<Gone>[] = [];
  const downs: Open<Down>[] = [];
  const orders: Order[] = [];
  const excused: Open<Span>[] = [];
  let brokenAtMs: number | null = null;

  const does = async (what: string, act: () => unknown): Promise<void> => {
    brokenAtMs ??= performance.now();
    log.note(what);
    await act();
  };
  const end = (spans: readonly Open<Span>[]): void => {
    for (const span of spans) span.toMs ??= performance.now();
  };
  const turns = async (count: number): Promise<void> => {
    const fromAt = traffic.history.length;
    await eventually(`${count} turns of each conversation`, () => {
      const taken = new Map<string, number>();
      for (const { wire, conversation } of traffic.history.slice(fromAt)) {
        if (wire === "http" && conversation !== null) taken.set(conversation, (taken.get(conversation) ?? 0) + 1);
      }
      return taken.size >= traffic.size() && [...taken.values()].every((turns) => turns >= count);
    });
  };
  const scene: Scene = {
    world,
    traffic,
    does,
    turns,
    until: (what, isTrue) => eventually(what, isTrue).then(() => log.note(what)),
    breaks: (what, act) => {
      excused.push({ fromMs: performance.now(), toMs: null });
      return does(what, act);
    },
    heals: async (what, act) => {
      const fromMs = performance.now();
      await does(what, act);
      await eventually("a store that both find nothing wrong with", () => isStoreWell(gtms));
      end(excused);
      log.note(`both find nothing wrong with the store, ${Math.round(performance.now() - fromMs)} ms later`);
    },
    orders: async (gtm, region, admin) => {
      const askedAtMs = performance.now();
      const status = await gtm.order(region, admin);
      orders.push({ askedAtMs, atMs: performance.now(), region, admin, status });
      log.note(`ordered ${region} ${admin} on ${gtm.name}: ${status}`);
      return status;
    },
    dies: async (region, how = "dies") => {
      const down = { region, fromMs: performance.now(), toMs: null };
      downs.push(down);
      const one = world.region(region);
      await does(`${region} ${how}`, how === "dies" ? one.die : one.silence);
      await eventually(`no answer that names ${region}`, () => isLeft(traffic, down));
      log.note(`nobody is sent to ${region} any more`);
    },
    returns: async (region) => {
      const one = world.region(region);
      const how = downs.findLast((down) => down.region === region);
      end(downs.filter((down) => down.region === region));
      if (how === undefined) throw new Error(`${region} was not down`);
      await does(`${region} returns`, () => (one.isDead() ? one.revive() : one.hear()));
    },
    kills: async (gtm, signal) => {
      gone.push({ gtm: gtm.name, fromMs: performance.now(), toMs: null });
      await does(`${gtm.name} gets ${signal}`, () => gtm.kill(signal));
    },
    starts: async (gtm) => {
      await does(`${gtm.name} starts`, gtm.start);
      end(gone.filter((one) => one.gtm === gtm.name));
      log.note(`${gtm.name} answers`);
    },
  };
  return {
    scene,
    play: (): Omit<Play, "settledAtMs" | "lateMs" | "standing"> => ({
      ...{ history: traffic.history, gone, downs, orders, excused },
      brokenAtMs: brokenAtMs ?? performance.now(),
    }),
  };
};
