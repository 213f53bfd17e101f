/** Whether the Sentinels are there, of one mind, and enough for a failover. Pure. */
import type { SentinelFact, SentinelFacts } from "#shared/store-redis-facts-sentinel.ts";
import { counted, type Finding, listed, ok, problem, unknown, warning } from "./finding.ts";
import { SENTINEL_PASSWORD_REMEDY } from "./store-away.ts";

/** With fewer than three, the death of one leaves no majority. */
const LEAST_SENTINELS = 3;

export const sentinelFindings = (facts: SentinelFacts | null): readonly Finding[] => {
  if (facts === null) return [];
  const { name, each } = facts;
  return [
    ...each.flatMap(awayFindings),
    ...agreementFindings(name, each),
    ...quorumFindings(name, each),
    ...(each.length < LEAST_SENTINELS
      ? [
          warning(
            "sentinels-few",
            `store.url names ${counted(each.length, "Sentinel")}: it takes ${LEAST_SENTINELS} to survive the death of one.`,
            "Start three on three hosts, and name them all in store.url.",
          ),
        ]
      : []),
  ];
};

const awayFindings = ({ place, away }: SentinelFact): readonly Finding[] =>
  away === null
    ? []
    : [
        warning(
          "sentinel-away",
          `The Sentinel ${place} is away: ${away.detail}.`,
          away.cause === "no-credentials" || away.cause === "wrong-password"
            ? SENTINEL_PASSWORD_REMEDY
            : "Start it, or take it out of store.url.",
        ),
      ];

const agreementFindings = (name: string, each: readonly SentinelFact[]): readonly Finding[] => {
  const named = [...new Set(each.map(({ primary }) => primary).filter((one) => one !== null))];
  const ignorant = each.filter(({ away, primary }) => away === null && primary === null);
  return [
    ...(named.length > 1
      ? [
          problem(
            "sentinels-disagree",
            `The Sentinels name ${named.length} primaries for ${name}: ${listed(named)}.`,
            "Wait for a failover to end; if it stays, `redis-cli -p 26379 sentinel reset NAME` on those that are behind.",
          ),
        ]
      : []),
    ...ignorant.map(({ place, quorumSays }) =>
      warning(
        "sentinel-ignorant",
        `The Sentinel ${place} names no primary for ${name}: ${quorumSays}.`,
        "Add `sentinel monitor` to its configuration, or mend the name behind the slash of store.url.",
      ),
    ),
  ];
};

const quorumFindings = (name: string, each: readonly SentinelFact[]): readonly Finding[] => {
  const asked = each.filter(({ primary }) => primary !== null);
  const without = asked.find(({ hasQuorum }) => hasQuorum === false);
  if (without !== undefined) {
    return [
      problem(
        "sentinels-no-quorum",
        `If the primary dies, nobody takes over: ${without.place} says ${without.quorumSays}`,
        "Start the Sentinels that are away; `redis-cli -p 26379 sentinel ckquorum NAME` says when enough are there.",
      ),
    ];
  }
  if (asked.some(({ hasQuorum }) => hasQuorum === true)) {
    return [
      ok("sentinels", `${counted(asked.length, "Sentinel")} of ${each.length} answer and can fail ${name} over.`),
    ];
  }
  const reason = asked[0]?.quorumSays;
  return reason === undefined
    ? []
    : [unknown("sentinels-quorum", `Whether a failover has a quorum is not known: ${reason}.`)];
};
