/** What happened to each region, as this instance saw it: orders, health, candidacy, silence, placements; the newest of each in memory. */
import type { Region } from "#gtm/domain/region.ts";
import type { Clock } from "#shared/clock.ts";
import type { AdminPorts } from "./ports.ts";
import { ageText } from "./quantity-text.ts";
import { type Standing, standingOf } from "./region-standing.ts";
import { orderOf } from "./region-view.ts";

export type EventKind = "order" | "health" | "candidacy" | "report" | "placement";

export type RegionEvent = {
  /** Grows by one with each event of any region. */
  readonly seq: number;
  /** Unix epoch ms. */
  readonly atMs: number;
  readonly kind: EventKind;
  /** One sentence. */
  readonly what: string;
  readonly isWorse: boolean;
};

export type RegionHistory = {
  /** Newest first. */
  readonly of: (region: string) => readonly RegionEvent[];
  /** Unix epoch ms: nothing before is known. */
  readonly watchedSinceMs: number;
  /** Compares every region with what it was. */
  readonly look: () => void;
};

/** Of one region: a person reads no more of them. */
const MOST_EVENTS = 200;

type Seen = {
  readonly region: Region;
  readonly standing: Standing;
  readonly order: string;
  /** Unix epoch ms of the last report before the silence; null: reports come. */
  readonly silentSinceMs: number | null;
};

type Told = Omit<RegionEvent, "seq" | "atMs"> & { readonly atMs?: number };

export const createRegionHistory = (
  ports: Pick<AdminPorts, "steering" | "orders" | "policy">,
  clock: Pick<Clock, "epochMs">,
): RegionHistory => {
  const watchedSinceMs = clock.epochMs();
  const events = new Map<string, RegionEvent[]>();
  let seen = new Map<string, Seen>();
  let seq = 0;

  const add = (region: string, told: Told): void => {
    seq += 1;
    const { atMs = clock.epochMs(), ...rest } = told;
    const ofRegion = events.get(region) ?? [];
    ofRegion.unshift({ seq, atMs, ...rest });
    ofRegion.length = Math.min(ofRegion.length, MOST_EVENTS);
    events.set(region, ofRegion);
  };
  const look = (): void => {
    const now = new Map(ports.steering.world().regions.map((region) => [region.id as string, seenOf(region)]));
    for (const [id, is] of now) {
      const was = seen.get(id);
      if (was !== undefined) for (const told of differences(was, is, clock.epochMs())) add(id, told);
    }
    // A region that a new configuration does not have takes its history along.
    for (const id of events.keys()) if (!now.has(id)) events.delete(id);
    seen = now;
  };
  const seenOf = (region: Region): Seen => {
    const before = seen.get(region.id);
    const orders = ports.orders.current();
    const order = orderOf(region.id, orders);
    const { reportAgeMs } = region;
    const isSilent = reportAgeMs !== null && reportAgeMs >= ports.policy.staleAfterMs;
    return {
      region,
      standing: before?.region === region ? before.standing : standingOf(region, ports.policy),
      order: order === null ? "" : `${order.admin} ordered by ${order.actor}: ${order.comment}`,
      silentSinceMs: isSilent ? (before?.silentSinceMs ?? clock.epochMs() - reportAgeMs) : null,
    };
  };
  look();
  return { of: (region) => events.get(region) ?? [], watchedSinceMs, look };
};

const HEALTHS: readonly Region["health"][] = ["healthy", "degraded", "silent", "unhealthy"];

const differences = (was: Seen, is: Seen, nowMs: number): readonly Told[] => [
  ...orderChange(was, is),
  ...(was.region.health === is.region.health
    ? []
    : [
        {
          kind: "health" as const,
          what: `Health ${was.region.health} → ${is.region.health}.`,
          isWorse: HEALTHS.indexOf(is.region.health) > HEALTHS.indexOf(was.region.health),
        },
      ]),
  ...reportChanges(was, is, nowMs),
  ...candidacyChange(was, is),
  ...placementChanges(was.region, is.region),
];

const orderChange = (was: Seen, is: Seen): readonly Told[] => {
  if (was.order === is.order) return [];
  const what = is.order === "" ? `No longer ${was.region.admin}: taken back, or ended.` : `${sentence(is.order)}.`;
  return [{ kind: "order", what, isWorse: is.order !== "" }];
};

const sentence = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

const reportChanges = (was: Seen, is: Seen, nowMs: number): readonly Told[] => {
  const told: Told[] = [];
  if (was.silentSinceMs === null && is.silentSinceMs !== null) {
    const what = `No report since ${new Date(is.silentSinceMs).toISOString()}.`;
    told.push({ kind: "report", what, isWorse: true });
  }
  if (was.silentSinceMs !== null && is.silentSinceMs === null) {
    told.push({ kind: "report", what: `Reports again, after ${ageText(nowMs - was.silentSinceMs)}.`, isWorse: false });
  }
  if (was.region.reportAgeMs === null && is.region.reportAgeMs !== null) {
    told.push({ kind: "report", what: "The first report was heard.", isWorse: false });
  }
  if (was.region.isPartial !== is.region.isPartial) {
    const what = is.region.isPartial ? "An agent is missing: counts are lower bounds." : "All its agents report again.";
    told.push({ kind: "report", what, isWorse: is.region.isPartial });
  }
  return told;
};

/** Serves nobody, those it holds, or everybody. */
const reach = ({ takesNew, keepsHeld }: Standing): number => (takesNew ? 2 : keepsHeld ? 1 : 0);
const REACHES = ["Serves nothing now", "Keeps what it holds and takes nothing new", "Takes new conversations"] as const;

const candidacyChange = (was: Seen, is: Seen): readonly Told[] => {
  const [before, after] = [reach(was.standing), reach(is.standing)];
  if (before === after) return [];
  const what = `${REACHES[after]}. ${is.standing.because}`;
  return [{ kind: "candidacy", what, isWorse: after < before }];
};

const placementChanges = (was: Region, is: Region): readonly Told[] =>
  [...new Set([...was.placements.keys(), ...is.placements.keys()])].flatMap((model): readonly Told[] => {
    const before = was.placements.get(model)?.state ?? "not placed";
    const after = is.placements.get(model)?.state ?? "not placed";
    if (before === after) return [];
    return [{ kind: "placement", what: `${model}: ${before} → ${after}.`, isWorse: before === "loaded" }];
  });
