/** Whether the GTMs on one store answer alike: each says what it would answer, and compares what the others say. */
import type { World } from "#gtm/domain/world.ts";
import type { Clock } from "#shared/clock.ts";
import type { InstanceId, RegionId } from "#shared/ids.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { InstanceSays, SentRecord } from "#shared/records.ts";
import { type Comparison, compare, type Difference } from "./agreement-compare.ts";
import { createAgreementMetrics } from "./agreement-metrics.ts";
import type { Degradations } from "./degradations.ts";
import type { KeptReport } from "./kept-reports.ts";

export type Disagreement = Difference & { readonly forMs: number };

/** Another GTM, as it was last heard. */
export type OtherInstance = {
  readonly id: InstanceId;
  /** By the store's clock. */
  readonly heardMsAgo: number;
  /** "": an earlier version, which does not say. */
  readonly version: string;
  readonly boot: string;
  /** null: it has not said. */
  readonly config: Readonly<Record<string, string>> | null;
  readonly configDiffers: readonly string[];
  readonly isSameState: boolean;
  /** Those that last for longer than the stated window. */
  readonly disagreements: readonly Disagreement[];
};

export type Agreement = {
  /** A new world: at most once a second this GTM's answers are made anew. Cheap otherwise. */
  readonly look: (world: World, reports: readonly KeptReport[]) => void;
  /** What goes into this GTM's `sent`. */
  readonly said: () => Pick<SentRecord, "boot" | "version" | "says">;
  readonly hear: (id: InstanceId, record: SentRecord, ageMs: number) => void;
  /** Our own record was another's: a second process under this name. null: it is ours. */
  readonly sawDouble: (boot: string | null) => void;
  readonly own: () => { readonly boot: string; readonly config: Readonly<Record<string, string>> };
  readonly others: () => readonly OtherInstance[];
};

export type AgreementOptions = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly degradations: Pick<Degradations, "set">;
  /** Another with each start. */
  readonly boot: string;
  readonly version: string;
  readonly instance: InstanceId;
  /** Read anew each time; another object once the configuration changed. */
  readonly config: Readonly<Record<string, string>>;
  readonly ordersRev: () => number;
  readonly answers: (world: World) => readonly { readonly question: string; readonly region: RegionId | null }[];
};

const LOOK_EVERY_MS = 1_000;
/** As long as a `sent` lives. */
const SEEN_FOR_MS = 5_000;
/** The stated window in which GTMs may differ. */
const MAY_DIFFER_MS = 2_000;
/** A second process overwrites our word five times a second; once or twice may be one that ends as we start. */
const DOUBLE_AFTER = 5;
const DOUBLE_FOR_MS = 5_000;
const MOST_REPORTS = 512;

type Heard = { readonly record: SentRecord; readonly atMs: number; readonly since: ReadonlyMap<string, number> };

export const createAgreement = (options: AgreementOptions): Agreement => {
  const { clock, log, boot, version } = options;
  const heard = new Map<InstanceId, Heard>();
  let says: InstanceSays | null = null;
  let saidOf: AgreementOptions["config"] | null = null;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let doubleAtMs = Number.NEGATIVE_INFINITY;
  let doubles = 0;
  let isDouble = false;
  const count = createAgreementMetrics(options.metrics);

  const compared = (record: SentRecord): Comparison | null =>
    says === null || record.says === null ? null : compare(says, record.says);
  const viewOf = (id: InstanceId, { record, atMs, since }: Heard): OtherInstance => {
    const nowMs = clock.monotonicMs();
    const comparison = compared(record);
    return {
      id,
      heardMsAgo: Math.max(0, nowMs - atMs),
      ...{ version: record.version, boot: record.boot, config: record.says?.config ?? null },
      configDiffers: comparison?.configDiffers ?? [],
      isSameState: comparison?.isSameState ?? false,
      disagreements: (comparison?.differences ?? [])
        .map((one) => ({ ...one, forMs: nowMs - (since.get(one.question) ?? nowMs) }))
        .filter(({ forMs }) => forMs > MAY_DIFFER_MS),
    };
  };
  const others = (): readonly OtherInstance[] => {
    const nowMs = clock.monotonicMs();
    for (const [id, { atMs }] of heard) if (nowMs - atMs > SEEN_FOR_MS) heard.delete(id);
    return [...heard].map(([id, one]) => viewOf(id, one)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  };
  const tell = (): void => {
    const all = others();
    count(all);
    const wasDouble = isDouble;
    if (clock.monotonicMs() - doubleAtMs > DOUBLE_FOR_MS) doubles = 0;
    isDouble = doubles >= DOUBLE_AFTER;
    // A person must act: two processes overwrite each other's word, and each counts half of what was sent.
    if (isDouble && !wasDouble) log.error("instance.double", { instance: options.instance, boot });
    const reasons = [
      ...(isDouble ? [`another GTM calls itself ${options.instance}: each instance needs a name of its own`] : []),
      ...all.flatMap(reasonsOf),
    ];
    options.degradations.set("instances", reasons.length === 0 ? null : reasons.join("; "));
  };

  return {
    look: (world, reports) => {
      const nowMs = clock.monotonicMs();
      const { config } = options;
      if (nowMs - lookedAtMs < LOOK_EVERY_MS && config === saidOf) return;
      lookedAtMs = nowMs;
      saidOf = config;
      says = {
        config: { ...config },
        ordersRev: options.ordersRev(),
        areAgesFrozen: world.areAgesFrozen || !world.isStoreUp,
        reports: heardOf(reports),
        answers: options.answers(world).map(({ question, region }) => [question, region]),
      };
      tell();
    },
    said: () => ({ boot, version, says }),
    hear: (id, record, ageMs) => {
      const nowMs = clock.monotonicMs();
      const before = heard.get(id)?.since ?? new Map<string, number>();
      const since = new Map(
        (compared(record)?.differences ?? []).map(({ question }) => [question, before.get(question) ?? nowMs]),
      );
      heard.set(id, { record, atMs: nowMs - ageMs, since });
    },
    sawDouble: (other) => {
      if (other === null || other === "" || other === boot) return;
      doubleAtMs = clock.monotonicMs();
      doubles++;
    },
    own: () => ({ boot, config: options.config }),
    others,
  };
};

const heardOf = (reports: readonly KeptReport[]): InstanceSays["reports"] =>
  reports
    .map(({ report }): InstanceSays["reports"][number] => [`${report.region}/${report.agent}`, report.boot, report.seq])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, MOST_REPORTS);

const reasonsOf = ({ id, configDiffers, disagreements }: OtherInstance): readonly string[] => [
  ...(configDiffers.length === 0 ? [] : [`${id} is configured otherwise: ${configDiffers.join(", ")}`]),
  ...(disagreements.length === 0
    ? []
    : [`${id} answers ${disagreements.length} of the questions that all are asked otherwise`]),
];
