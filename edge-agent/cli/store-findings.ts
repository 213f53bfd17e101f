/** Whether the store answers and takes what an agent or a gateway writes: asked by commands that change nothing. */
import type { Clock } from "#shared/clock.ts";
import { agentsKey, reportedChannel, reportKey } from "#shared/keys.ts";
import { readStoreFacts, type StoreFacts } from "#shared/store-redis-facts.ts";
import type { Away } from "#shared/store-redis-facts-away.ts";
import type { ServerFacts } from "#shared/store-redis-facts-server.ts";
import type { ServerProbe } from "#shared/store-redis-facts-user.ts";
import type { StoreSettings } from "#shared/store-settings.ts";
import type { AgentConfig } from "../config.ts";

export type Finding = { readonly isProblem: boolean; readonly text: string };

const QUESTION_DEADLINE_MS = 2_000;

export type Wish = {
  readonly probes: readonly ServerProbe[];
  /** Where the rules for its user stand, for advice. */
  readonly rules: string;
  /** "agent" or "gateway". */
  readonly who: string;
};

/** Never rejects because Redis is away. */
export const storeFindings = (config: AgentConfig, clock: Clock): Promise<readonly Finding[]> =>
  probedStoreFindings(config, clock, {
    probes: probesOf(config),
    rules: `deploy/redis/acl/edge-agent.acl for ${config.region}`,
    who: "agent",
  });

/** As storeFindings, of whichever program. */
export const probedStoreFindings = async (
  { store }: { readonly store: StoreSettings },
  clock: Clock,
  wish: Wish,
): Promise<readonly Finding[]> => {
  const facts = await readStoreFacts(store, { clock, deadlineMs: QUESTION_DEADLINE_MS, probes: wish.probes });
  return findingsOf(facts, wish);
};

/** The server looks at the permission before it finds that the command is none; the announcement says what is true anyhow. */
const probesOf = ({ region, agent }: AgentConfig): readonly ServerProbe[] =>
  [
    ["SET", reportKey(region, agent), "", "NX", "XX"],
    ["ZADD", agentsKey(region), "no-number", agent],
    ["PUBLISH", reportedChannel(), `${region}/${agent}`],
  ].map((words) => ({ name: words.slice(0, 2).join(" "), words }));

const findingsOf = (facts: StoreFacts, wish: Wish): readonly Finding[] => {
  if (facts.kind === "memory")
    return [{ isProblem: false, text: `store: memory:, so nobody but this process sees what the ${wish.who} writes` }];
  const told = (isProblem: boolean, what: string): Finding => ({ isProblem, text: `store: ${facts.url}: ${what}` });
  if (facts.away !== null) return [told(true, awayText(facts.away))];
  const used = facts.servers.filter(({ isExpected }) => isExpected);
  if (used.length === 0) return [told(true, "no primary was found; `gtm doctor` looks further")];
  return used.flatMap((server) => serverFindings(server, wish).map(([isProblem, what]) => told(isProblem, what)));
};

const awayText = ({ cause, detail }: Away): string =>
  `${cause}: ${detail}. Nothing is written until it is; look after the store, or mend \`store\` here.`;

const serverFindings = (server: ServerFacts, { rules, who }: Wish): readonly (readonly [boolean, string])[] => {
  const { place, away, user } = server;
  if (away !== null) return [[true, `${place}: ${awayText(away)}`]];
  if (user === null) return [[true, `${place}: it fell silent while it was asked`]];
  if (user.refused.length > 0) {
    const remedy = `Give its user the rules of ${rules}.`;
    return [[true, `${place}: this ${who} may not ${user.refused.join(", ")}. ${remedy}`]];
  }
  if (user.writeFault !== null) return [[true, `${place}: it takes no writes: ${user.writeFault}`]];
  return [[false, `${place} answers and takes what this ${who} writes`]];
};
