/** A front door on a free port of loopback, steered by the real flow over a small world; disposable. */
import type { Conversation } from "#gtm/domain/conversation.ts";
import { IDENTITY_SOURCES } from "#gtm/domain/identity-source.ts";
import type { Model } from "#gtm/domain/model.ts";
import type { Region } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import type { Entry, Ports } from "#gtm/steering/ports.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import { DEFAULT_LIMITS, type Limits } from "#gtm/wire/http/limits.ts";
import { createFrontDoor, type FrontDoorOptions } from "#gtm/wire/http/server.ts";
import { type ConversationId, DecisionId } from "#shared/ids.ts";
import { createMetrics, type Metrics } from "#shared/metrics.ts";
import { createLabels, ephemeralLabelKeys } from "#shared/pin-token.ts";
import { aClient, aPool, aRegion, aWorld, MODEL } from "./builders.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";
import { type Logged, recordingLog } from "./recording-log.ts";

export const ZONE = "llm.example.org";

export const aModel: Model = { id: MODEL, aliases: ["llama"], weightBytes: null, coldStartMs: null };

/** Long enough for a busy machine, short enough for a test. */
export const TEST_LIMITS: Limits = { ...DEFAULT_LIMITS, stopIdleMs: 20, lingerMs: 500 };

export type FrontDoorWish = Partial<Omit<FrontDoorOptions, "limits">> & {
  readonly worldRegions?: readonly Region[];
  readonly world?: () => World;
  readonly limits?: Partial<Limits>;
  readonly conversations?: ReadonlyMap<ConversationId, Conversation>;
  readonly ports?: Partial<Ports>;
};

export type RunningFrontDoor = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  readonly entries: readonly Entry[];
  readonly lines: readonly Logged[];
  readonly metrics: Metrics;
  readonly clock: ManualClock;
  readonly labels: FrontDoorOptions["labels"];
  readonly stop: () => Promise<void>;
};

export const startFrontDoor = async (wish: FrontDoorWish = {}): Promise<RunningFrontDoor> => {
  const { options, ...seen } = frontDoorOptions(wish);
  const front = createFrontDoor(options);
  await front.start();
  const { port } = front.address();
  const stop = front.stop;
  return { url: `http://127.0.0.1:${port}`, port, ...seen, stop, [Symbol.asyncDispose]: stop };
};

type Prepared = Pick<RunningFrontDoor, "entries" | "lines" | "metrics" | "clock" | "labels"> & {
  readonly options: FrontDoorOptions;
};

export const frontDoorOptions = (wish: FrontDoorWish = {}): Prepared => {
  const regions = wish.worldRegions ?? [aRegion("frankfurt"), aRegion("virginia")];
  const world = wish.world ?? (() => aWorld(regions));
  const pool = aPool(regions);
  const entries: Entry[] = [];
  const log = recordingLog();
  const metrics = createMetrics();
  const clock = createManualClock();
  const labels = wish.labels ?? createLabels(ephemeralLabelKeys());
  const ports: Ports = {
    world,
    locate: () => aClient("frankfurt"),
    findConversation: (id) => (id === null ? null : (wish.conversations?.get(id) ?? null)),
    record: (entry) => {
      entries.push(entry);
    },
    ...wish.ports,
  };
  const options: FrontDoorOptions = {
    listen: { address: "127.0.0.1", port: 0 },
    zoneName: ZONE,
    pools: [pool],
    defaultPool: pool,
    models: [aModel],
    regions: regions.map(({ id }) => id),
    steer: createSteer(ports, DEFAULT_POLICY),
    newId: countingIds(),
    clock,
    offersLabels: true,
    identityOrder: IDENTITY_SOURCES,
    findResponse: async () => null,
    trustedProxies: [],
    proxyProtocol: false,
    regionsCaFile: null,
    tls: null,
    tenantHeader: null,
    gateways: new Set(),
    ticketSealer: () => null,
    ticketHeaders: [],
    log,
    metrics,
    ...wish,
    world,
    labels,
    limits: { ...TEST_LIMITS, ...wish.limits },
  };
  return { options, entries, lines: log.lines, metrics, clock, labels };
};

const countingIds = (): (() => DecisionId) => {
  let count = 0;
  return () => {
    count += 1;
    return DecisionId.parse(`01JDXV3Z${String(count).padStart(18, "0")}`);
  };
};
