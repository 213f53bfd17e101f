/** What the store holds of each region's agents: who is listed, what each reported, and how old that is by the store's clock. */
import { checkReport, type ReportCheck } from "#gtm/datalayer/report-check.ts";
import { AgentId, type RegionId } from "#shared/ids.ts";
import { agentsKey, KEYS, reportKey } from "#shared/keys.ts";
import type { Store } from "#shared/store.ts";

export type AgentFact = {
  readonly agent: string;
  /** null: it has no report that is not expired. */
  readonly found: null | {
    readonly check: ReportCheck;
    /** By the store's clock. */
    readonly ageMs: number;
  };
};

export type RegionAgents = {
  readonly region: RegionId;
  /** As many as were looked at, the latest first. */
  readonly agents: readonly AgentFact[];
  /** Why they are not known; null: they are. */
  readonly fault: string | null;
};

export type AgentKeys = { readonly get: (region: RegionId) => readonly Uint8Array[] };

/** More than a region has hosts. */
const MOST_AGENTS = 100;

/** A region that cannot be read has a fault; never rejects because the store is away. */
export const readRegionAgents = async (store: Store, region: RegionId, keys: AgentKeys): Promise<RegionAgents> => {
  try {
    const index = await store.indexTop(agentsKey(region), Number.POSITIVE_INFINITY, MOST_AGENTS);
    const agents = await Promise.all(index.map(({ member }) => readAgent(store, region, member, keys.get(region))));
    return { region, agents, fault: null };
  } catch (fault) {
    return { region, agents: [], fault: fault instanceof Error ? fault.message : String(fault) };
  }
};

const readAgent = async (
  store: Store,
  region: RegionId,
  member: string,
  keys: readonly Uint8Array[],
): Promise<AgentFact> => {
  const agent = AgentId.safeParse(member);
  const stored = agent.success ? await store.get(reportKey(region, agent.data)) : null;
  if (!agent.success || stored === null) return { agent: member, found: null };
  const ageMs = stored.remainingMs === null ? 0 : Math.max(0, KEYS.report.ttlMs - stored.remainingMs);
  return { agent: member, found: { check: checkReport(stored.value, { region, agent: agent.data }, keys), ageMs } };
};
