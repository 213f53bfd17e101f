/** Whether the store answers and takes this agent's reports: asked by commands that change nothing. */
import type { Clock } from "#shared/clock.ts";
import { agentsKey, reportedChannel, reportKey } from "#shared/keys.ts";
import { readStoreFacts, type StoreFacts } from "#shared/store-redis-facts.ts";
import type { Away } from "#shared/store-redis-facts-away.ts";
import type { ServerFacts } from "#shared/store-redis-facts-server.ts";
import type { ServerProbe } from "#shared/store-redis-facts-user.ts";
import type { AgentConfig } from "../config.ts";

export type Finding = { readonly isProblem: boolean; readonly text: string };

const QUESTION_DEADLINE_MS = 2_000;

/** Never rejects because Redis is away. */
export const storeFindings = async (config: AgentConfig, clock: Clock): Promise<readonly Finding[]> =>
  findingsOf(
    await readStoreFacts(config.store, { clock, deadlineMs: QUESTION_DEADLINE_MS, probes: probesOf(config) }),
    config.region,
  );

/** The server looks at the permission before it finds that the command is none; the announcement says what is true anyhow. */
const probesOf = ({ region, agent }: AgentConfig): readonly ServerProbe[] =>
  [
    ["SET", reportKey(region, agent), "", "NX", "XX"],
    ["ZADD", agentsKey(region), "no-number", agent],
    ["PUBLISH", reportedChannel(), `${region}/${agent}`],
  ].map((words) => ({ name: words.slice(0, 2).join(" "), words }));

const findingsOf = (facts: StoreFacts, region: string): readonly Finding[] => {
  if (facts.kind === "memory")
    return [{ isProblem: false, text: "store: memory:, so nobody but this process sees the reports" }];
  const told = (isProblem: boolean, what: string): Finding => ({ isProblem, text: `store: ${facts.url}: ${what}` });
  if (facts.away !== null) return [told(true, awayText(facts.away))];
  const used = facts.servers.filter(({ isExpected }) => isExpected);
  if (used.length === 0) return [told(true, "no primary was found; `gtm doctor` looks further")];
  return used.flatMap((server) => serverFindings(server, region).map(([isProblem, what]) => told(isProblem, what)));
};

const awayText = ({ cause, detail }: Away): string =>
  `${cause}: ${detail}. Reports are not put until it is; look after the store, or mend \`store\` here.`;

const serverFindings = (server: ServerFacts, region: string): readonly (readonly [boolean, string])[] => {
  const { place, away, user } = server;
  if (away !== null) return [[true, `${place}: ${awayText(away)}`]];
  if (user === null) return [[true, `${place}: it fell silent while it was asked`]];
  if (user.refused.length > 0) {
    const remedy = `Give its user the rules of deploy/redis/acl/edge-agent.acl for ${region}.`;
    return [[true, `${place}: this agent may not ${user.refused.join(", ")}. ${remedy}`]];
  }
  if (user.writeFault !== null) return [[true, `${place}: it takes no writes: ${user.writeFault}`]];
  return [[false, `${place} answers and takes this agent's reports`]];
};
