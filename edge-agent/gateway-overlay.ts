/** What the region's gateways know exactly, laid over what was scraped: backlogs and calibrated speeds, where all of it is fresh. */
import type { ModelReport, RegionReport, ReplicaReport, ReportFault } from "#shared/report.ts";
import type { ReplicaPage } from "./gateway/replica-page.ts";
import { LEAST_CONFIDENCE } from "./prefill-confidence.ts";

/** One gateway's answer in this round. */
export type GatewayAnswer = { readonly source: string } & (
  | { readonly kind: "page"; readonly page: ReplicaPage }
  /** Silent, or no gateway of this region. */
  | { readonly kind: "fault"; readonly code: string }
);

type Row = ReplicaPage["replicas"][number];

/** Requests that may have come or gone between a gateway's answer and the engine's. */
const BETWEEN_REQUESTS = 2;

/**
 * A turn is in flight at one gateway only, so backlogs are summed; a part is not the whole: while one gateway is silent, all
 * backlogs are the scraped ones, and the fault says so. Where engines have more requests than the gateways sent, some came
 * around them: then the longer backlog of the two counts.
 */
export const withGateways = (report: RegionReport, answers: readonly GatewayAnswer[]): RegionReport => {
  const faults = answers.flatMap((answer) => faultsOf(answer, report));
  const pages = answers.flatMap((answer) => (answer.kind === "page" ? [answer.page] : []));
  const rows = pages.filter(({ region }) => region === report.region).flatMap(({ replicas }) => replicas);
  const isWhole = answers.length > 0 && faults.length === 0;
  // What a gateway sends to a router comes to engines that it does not know: that is around nobody.
  const isRouted = rows.some(({ isRouter }) => isRouter);
  const bypassed = isWhole && !isRouted ? report.models.filter((model) => isBypassed(model, rows)) : [];
  const models = report.models.map((model) =>
    modelWith(model, rows, isWhole ? (bypassed.includes(model) ? "longer" : "exact") : "scraped"),
  );
  const around = bypassed.map(({ model }) => ({ source: model, field: "backlogMs", code: "around-gateways" }));
  return { ...report, models, faults: [...report.faults, ...faults, ...around] };
};

const faultsOf = (answer: GatewayAnswer, { region }: RegionReport): readonly ReportFault[] => {
  if (answer.kind === "fault") return [{ source: answer.source, field: "replicas", code: answer.code }];
  return answer.page.region === region ? [] : [{ source: answer.source, field: "replicas", code: "other-region" }];
};

/** Whether its engines have requests that no gateway knows. */
const isBypassed = ({ replicas, requestsRunning, requestsWaiting }: ModelReport, rows: readonly Row[]): boolean => {
  const ids = new Set(replicas.map(({ id }) => id));
  const sent = rows.filter(({ id }) => ids.has(id)).reduce((sum, { inFlight }) => sum + inFlight, 0);
  return (requestsRunning ?? 0) + (requestsWaiting ?? 0) > sent + BETWEEN_REQUESTS;
};

/** Whose backlogs count. */
type Backlogs = "exact" | "longer" | "scraped";

const modelWith = (model: ModelReport, rows: readonly Row[], backlogs: Backlogs): ModelReport => {
  const placed = model.replicas.map((replica) => {
    const own = rows.filter(({ id }) => id === replica.id);
    return { replica: replicaWith(replica, own, backlogs), speed: speedIn(own) };
  });
  const replicas = placed.map(({ replica }) => replica);
  if (placed.every(({ speed }) => speed === null)) return { ...model, replicas };
  return {
    ...model,
    replicas,
    prefillTokensPerSecond: mean(placed.map(({ replica }) => rateOf(replica))),
    prefillConfidence: mean(placed.map(({ speed }) => speed?.prefillConfidence ?? model.prefillConfidence)),
  };
};

const replicaWith = (replica: ReplicaReport, own: readonly Row[], backlogs: Backlogs): ReplicaReport => {
  const exactMs = backlogs === "scraped" ? null : sumOf(own.map(({ backlogMs }) => backlogMs));
  const scrapedMs = backlogs === "longer" ? (replica.backlogMs ?? 0) : 0;
  const speed = speedIn(own);
  return {
    ...replica,
    ...(exactMs === null ? {} : { backlogMs: Math.max(exactMs, scrapedMs) }),
    ...(speed === null ? {} : { prefillLinMs: speed.prefillLinMs, prefillAttnMs: speed.prefillAttnMs }),
  };
};

/** null: there is none, or one is not known. */
const sumOf = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null);
  if (known.length === 0 || known.length < values.length) return null;
  return known.reduce((sum, value) => sum + value, 0);
};

/** The most certain gateway's; null: none believes one. */
const speedIn = (own: readonly Row[]): Row | null =>
  own.reduce<Row | null>((best, row) => {
    const isBelieved = row.prefillLinMs !== null && row.prefillConfidence >= LEAST_CONFIDENCE;
    return isBelieved && row.prefillConfidence > (best?.prefillConfidence ?? 0) ? row : best;
  }, null);

const rateOf = ({ prefillLinMs }: ReplicaReport): number | null =>
  prefillLinMs === null ? null : 1_000 / prefillLinMs;

/** Of those that are known; null: none is. */
const mean = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
};
