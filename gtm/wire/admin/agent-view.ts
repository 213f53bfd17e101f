/** One agent, as the admin API shows it: who it is, what it reads, and what is wrong with it. */
import { z } from "@hono/zod-openapi";
import { type AgentLimits, agentFaults, agentState } from "./agent-faults.ts";
import type { AgentSeen } from "./agents-port.ts";

const ReportFaultView = z.looseObject({
  /** `host:port`, `dcgm`, a model's name. */
  source: z.string(),
  field: z.string(),
  code: z.string(),
});

const EngineView = z
  .looseObject({
    /** `host:port`. */
    address: z.string(),
    /** null: it is not known what engine this is. */
    engine: z.string().nullable(),
    models: z.array(z.string()),
    faults: z.array(ReportFaultView),
  })
  .openapi("AgentEngine");

export const AgentFaultView = z
  .looseObject({
    id: z.string(),
    severity: z.enum(["problem", "warning"]),
    what: z.string(),
    remedy: z.string(),
  })
  .openapi("AgentFault");

export const AgentView = z
  .looseObject({
    region: z.string(),
    /** "": of the region as a whole, such as that it lists more agents than are read. */
    agent: z.string(),
    /** `reporting`, `stale`, `silent` or `refused`. */
    state: z.string(),
    /** null: it does not say, or nothing of it was believed. */
    version: z.string().nullable(),
    reportAgeMs: z.number().nullable(),
    /** By this GTM's clock; null: no report. */
    lastReportAt: z.string().nullable(),
    /** Since when its reports are heard; null: not since this GTM started. */
    firstHeardAt: z.string().nullable(),
    /** From one report to the next; null: two have not come yet. */
    intervalMs: z.number().nullable(),
    seq: z.number().nullable(),
    heardReports: z.number(),
    /** Numbers that its reports passed over. */
    missedReports: z.number(),
    /** Times that another process began to speak in its name. */
    restarts: z.number(),
    /** Of its clock before this GTM's; null: not heard. */
    clockAheadMs: z.number().nullable(),
    /** `verified`, `unverified` (no key here) or `unsigned`; null: nothing was believed. */
    signature: z.string().nullable(),
    engines: z.array(EngineView),
    gpus: z.int(),
    /** Of what is no engine: GPUs, models, the agent itself. */
    otherFaults: z.array(ReportFaultView),
    refused: z
      .looseObject({
        count: z.int(),
        reason: z.string(),
        detail: z.string(),
        at: z.string(),
        /** No report was believed since. */
        isStanding: z.boolean(),
      })
      .nullable(),
    faults: z.array(AgentFaultView),
  })
  .openapi("Agent");
export type AgentView = z.infer<typeof AgentView>;

export type ViewContext = AgentLimits & { readonly nowEpochMs: number; readonly version: string };

/** @param agents all that are known; views come in the same order */
export const agentViews = (agents: readonly AgentSeen[], context: ViewContext): readonly AgentView[] => {
  const byRegion = Map.groupBy(agents, ({ region }) => region);
  return agents.map((seen) => agentView(seen, byRegion.get(seen.region) ?? [seen], context));
};

const agentView = (seen: AgentSeen, ofRegion: readonly AgentSeen[], context: ViewContext): AgentView => {
  const { report, reportAgeMs, pulse, refusal } = seen;
  return {
    region: seen.region,
    agent: seen.agent,
    state: agentState(seen, context),
    version: report?.agentVersion ?? null,
    reportAgeMs,
    lastReportAt: reportAgeMs === null ? null : iso(context.nowEpochMs - reportAgeMs),
    firstHeardAt: pulse === null ? null : iso(pulse.firstHeardAtMs),
    intervalMs: pulse === null || pulse.intervalMs === null ? null : Math.round(pulse.intervalMs),
    seq: report?.seq ?? null,
    heardReports: pulse?.heardReports ?? 0,
    missedReports: pulse?.missedReports ?? 0,
    restarts: pulse?.restarts ?? 0,
    clockAheadMs: pulse?.clockAheadMs ?? null,
    signature: signatureOf(seen),
    ...enginesOf(seen),
    gpus: report?.gpus.length ?? 0,
    refused:
      refusal === null
        ? null
        : {
            count: refusal.count,
            reason: refusal.reason,
            detail: refusal.detail,
            at: iso(refusal.atMs),
            isStanding: refusal.isStanding,
          },
    faults: agentFaults(seen, { ...context, ofRegion }).map((fault) => ({ ...fault })),
  };
};

const iso = (epochMs: number): string => new Date(epochMs).toISOString();

const signatureOf = ({ report, isKeyKnown }: AgentSeen): string | null => {
  if (report === null) return null;
  if (isKeyKnown) return "verified";
  return report.mac === null ? "unsigned" : "unverified";
};

/** Addresses are those that readings, replicas and faults name: an engine that says nothing at all is known by its faults. */
const enginesOf = ({ report }: AgentSeen): Pick<AgentView, "engines" | "otherFaults"> => {
  if (report === null) return { engines: [], otherFaults: [] };
  const kinds = new Map(
    (report.readings ?? []).flatMap(({ engine, addresses }) => addresses.map((address) => [address, engine] as const)),
  );
  const models = new Map<string, Set<string>>();
  for (const { model, replicas } of report.models) {
    for (const { id } of replicas) {
      const address = addressOf(id);
      models.set(address, (models.get(address) ?? new Set()).add(model));
    }
  }
  const faulty = report.faults.map(({ source }) => source).filter((source) => ADDRESS.test(source));
  const addresses = [...new Set([...kinds.keys(), ...models.keys(), ...faulty])].sort();
  return {
    engines: addresses.map((address) => ({
      address,
      engine: kinds.get(address) ?? null,
      models: [...(models.get(address) ?? [])].sort(),
      faults: report.faults.filter(({ source }) => source === address).map((fault) => ({ ...fault })),
    })),
    otherFaults: report.faults.filter(({ source }) => !addresses.includes(source)).map((fault) => ({ ...fault })),
  };
};

const ADDRESS = /:\d+$/;

/** Of `host:port/engine`. */
const addressOf = (replica: string): string =>
  replica.slice(0, replica.lastIndexOf("/") < 0 ? undefined : replica.lastIndexOf("/"));
