/** Which agents each region has, as the store lists them. Nobody's clock says who is gone: only how long we have seen nothing of him. */
import type { Clock } from "#shared/clock.ts";
import type { AgentId, RegionId } from "#shared/ids.ts";
import { agentsKey } from "#shared/keys.ts";
import type { Store } from "#shared/store.ts";

/** `member` is `region/agent`. */
export type Agent = { readonly member: string; readonly region: RegionId; readonly agent: AgentId };

export type Listing = {
  /** Of a region whose list cannot be read, those that it had before. */
  readonly agents: readonly Agent[];
  readonly failed: readonly RegionId[];
  /** Of what failed. */
  readonly cause: unknown;
};

export type AgentIndex = {
  readonly list: () => Promise<Listing>;
  /** @returns the agents that have been silent for ten minutes: out of service, no longer missed */
  readonly gone: (agents: readonly Agent[], isSpeaking: (agent: Agent) => boolean) => ReadonlySet<Agent>;
  readonly remove: (agent: Agent) => Promise<void>;
};

export type AgentIndexOptions = {
  readonly store: Store;
  readonly clock: Clock;
  /** Read anew each time: the configuration may change. */
  readonly regions: readonly RegionId[];
  /** @param member `region/agent` @returns null: no name that an agent may have, which is counted */
  readonly agentOf: (member: string) => Agent | null;
  readonly onCrowded: (region: RegionId, most: number) => void;
};

/** An agent that was away this long has been taken out of service; until then its region counts as partial. */
const REMEMBERED_MS = 600_000;
/** One agent reads many engines, so a region that lists more lies. It is read as far as this. */
export const MOST_AGENTS = 200;

export const createAgentIndex = (options: AgentIndexOptions): AgentIndex => {
  const { store, clock, agentOf, onCrowded } = options;
  const listed = new Map<RegionId, readonly Agent[]>();
  const seenAtMs = new Map<string, number>();

  /** Scores are the agents' times of day, which may be wrong: they order the list, and decide nothing. */
  const listOf = async (region: RegionId): Promise<void> => {
    const entries = await store.indexTop(agentsKey(region), Number.POSITIVE_INFINITY, MOST_AGENTS + 1);
    if (entries.length > MOST_AGENTS) onCrowded(region, MOST_AGENTS);
    const agents: Agent[] = [];
    const nameless: string[] = [];
    for (const { member } of entries.slice(0, MOST_AGENTS).reverse()) {
      const agent = agentOf(`${region}/${member}`);
      if (agent === null) nameless.push(member);
      else agents.push(agent);
    }
    listed.set(region, agents);
    await Promise.all(nameless.map((member) => store.indexRemove(agentsKey(region), member)));
  };

  return {
    list: async () => {
      const { regions } = options;
      const outcomes = await Promise.allSettled(regions.map(listOf));
      const failed = regions.filter((_, at) => outcomes[at]?.status === "rejected");
      const cause = outcomes.find((outcome) => outcome.status === "rejected")?.reason ?? null;
      return { agents: regions.flatMap((region) => listed.get(region) ?? []), failed, cause };
    },
    gone: (agents, isSpeaking) => {
      const nowMs = clock.monotonicMs();
      const members = new Set(agents.map(({ member }) => member));
      for (const member of seenAtMs.keys()) if (!members.has(member)) seenAtMs.delete(member);
      const gone = new Set<Agent>();
      for (const agent of agents) {
        const { member } = agent;
        if (isSpeaking(agent) || !seenAtMs.has(member)) seenAtMs.set(member, nowMs);
        else if (nowMs - (seenAtMs.get(member) ?? nowMs) >= REMEMBERED_MS) gone.add(agent);
      }
      return gone;
    },
    remove: ({ region, agent }) => store.indexRemove(agentsKey(region), agent),
  };
};
