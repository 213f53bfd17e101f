/** One decision for a person: the verdict, every region's cost in parts, why, and what would flip it. */
import type { ConsideredView, DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { instant } from "#gtm/wire/admin/quantity-text.ts";
import type { Cell, Column } from "./cell.ts";
import { age, count, fraction, milliseconds, UNKNOWN } from "./quantity.ts";
import { facts, table } from "./table.ts";

type Cost = NonNullable<ConsideredView["cost"]>;
type Part = { readonly header: string; readonly of: (cost: Cost) => number };

/** In the order in which they are added up; the last ones are shown only where one of them is not 0. */
const PARTS: readonly Part[] = [
  { header: "NETWORK", of: (cost) => cost.networkMs },
  { header: "QUEUE", of: (cost) => cost.queueMs },
  { header: "PREFILL", of: (cost) => cost.prefillMs },
  { header: "RECOMPUTE", of: (cost) => cost.migrationMs },
  { header: "COLD START", of: (cost) => cost.coldStartMs },
  { header: "MEMORY", of: (cost) => cost.memoryMs },
  { header: "DECODE", of: (cost) => cost.decodeMs },
  { header: "MONEY", of: (cost) => cost.moneyMs },
  { header: "STALENESS", of: (cost) => cost.stalenessMs },
];
const ALWAYS_SHOWN = 4;

export const decisionText = (decision: DecisionSchema, isColourful: boolean): string => {
  const flip = decision.flipsIf === null ? "" : `It would be otherwise if ${decision.flipsIf}.\n`;
  return `${facts(factsOf(decision))}\n${consideredTable(decision, isColourful)}\n${decision.explanation}\n${flip}`;
};

const factsOf = (decision: DecisionSchema): [string, string][] => {
  const { client, conversation } = decision;
  const place = client.place === null ? "" : ` (${client.place}, ${client.source})`;
  const times = decision.answered > 1 ? `, answered ${decision.answered} times` : "";
  return [
    ["decision", `${decision.id} at ${instant(decision.at)} by ${decision.channel}${times}`],
    ["asked", `${decision.kind} of pool ${decision.pool}, model ${decision.model}, tenant ${decision.tenant}`],
    ["client", `${client.subnet}${place}`],
    ["conversation", conversation === null ? "none" : conversationText(conversation)],
    ["expected", expectedText(decision)],
    ...learntFacts(decision),
    ["verdict", verdictText(decision)],
    ["world", `version ${decision.worldVersion}, ${age(decision.worldAgeMs)} old; TTL ${decision.ttlSeconds} s`],
  ];
};

const conversationText = (conversation: NonNullable<DecisionSchema["conversation"]>): string => {
  const { id, contextTokens, isContextAssumed, newTokens, home, idleMs, turns, parentId } = conversation;
  const at = home === null ? "at home nowhere" : `at home in ${home}`;
  const idle = idleMs === null ? "" : `, idle ${age(idleMs)}`;
  const assumed = isContextAssumed ? " (assumed)" : "";
  const child = (parentId ?? null) === null ? "" : `, child of ${parentId}`;
  return `${id}${child}, ${at}, ${count(contextTokens)} tokens of context${assumed}, ${count(newTokens)} new, ${turns} turns${idle}`;
};

const expectedText = ({ expected }: DecisionSchema): string =>
  [
    `${count(expected.outputTokens)} tokens of answer (${expected.outputSource}${expected.outputLimitTokens === null ? "" : `, at most ${count(expected.outputLimitTokens)}`})`,
    `another turn ${fraction(expected.nextTurnFraction)} (${expected.nextTurnSource})`,
    `reuse ${fraction(expected.reuseFraction)} (${expected.reuseSource})`,
  ].join(", ");

/** What turns have taught of the regions, where they have. */
const learntFacts = ({ considered }: DecisionSchema): [string, string][] => {
  const taught = considered.flatMap(({ region, plan }) => {
    if (plan === undefined) return [];
    const trip = plan.rttSource === "measured" ? [`round trip ${milliseconds(plan.rttMs)}`] : [];
    const held = plan.isHeldCorrectionLearnt ? [`keeps ${fraction(plan.heldCorrection)} of what it should hold`] : [];
    const all = [...trip, ...held];
    return all.length === 0 ? [] : [`${region}: ${all.join(", ")}`];
  });
  return taught.length === 0 ? [] : [["learnt", taught.join("; ")]];
};

const verdictText = ({
  verdict,
  marginMs,
  mode,
  withheld,
  overrideId,
  answeredWith,
  yieldedOverrideIds = [],
}: DecisionSchema): string => {
  const from = verdict.from === null ? "" : ` from ${verdict.from}`;
  const lead =
    verdict.runnerUp === null || verdict.leadMs === null
      ? ""
      : `; runner-up ${verdict.runnerUp}, ${milliseconds(Math.abs(verdict.leadMs))} ${verdict.leadMs < 0 ? "less" : "more"}`;
  const saved = verdict.kind === "migrated" ? `, saves ${milliseconds(verdict.savedMs)}` : "";
  const special = [
    mode === "enforce" ? "" : `; ${mode}`,
    withheld == null ? "" : `: steering would say ${withheld.kind} → ${withheld.region ?? "nowhere"}`,
    overrideId === null ? "" : `; override ${overrideId}`,
    yieldedOverrideIds.length === 0 ? "" : `; share yielded: ${yieldedOverrideIds.join(", ")}`,
    answeredWith === "regions" ? "" : `; answered with ${answeredWith}`,
  ].join("");
  return `${verdict.kind}${from} → ${verdict.region ?? "nowhere"}${saved}${lead}; margin ${milliseconds(marginMs)}${special}`;
};

const consideredTable = ({ considered, verdict }: DecisionSchema, isColourful: boolean): string => {
  const costs = considered.flatMap(({ cost }) => (cost === undefined ? [] : [cost]));
  const parts = PARTS.filter((part, at) => at < ALWAYS_SHOWN || costs.some((cost) => part.of(cost) !== 0));
  const columns: readonly Column[] = [
    { header: "  REGION" },
    { header: "TOTAL", align: "right" },
    { header: "TTFT", align: "right" },
    ...parts.map(({ header }): Column => ({ header, align: "right" })),
    { header: "HELD TOKENS", align: "right" },
    { header: "REPORT AGE", align: "right" },
    { header: "EXCLUDED" },
  ];
  const rows = cheapestFirst(considered).map((one) => rowOf(one, one.region === verdict.region, parts));
  return table(columns, rows, isColourful);
};

const rowOf = (one: ConsideredView, isChosen: boolean, parts: readonly Part[]): readonly Cell[] => {
  const { cost, plan } = one;
  const name: Cell = isChosen ? { text: `→ ${one.region}`, colour: "bold" } : `  ${one.region}`;
  const reportAge = one.reportAgeMs === null ? "never" : age(one.reportAgeMs);
  if (cost === undefined) {
    return [name, UNKNOWN, UNKNOWN, ...parts.map(() => UNKNOWN), UNKNOWN, reportAge, exclusionText(one.exclusion)];
  }
  return [
    name,
    milliseconds(cost.totalMs),
    milliseconds(cost.predictedTtftMs),
    ...parts.map((part) => milliseconds(part.of(cost))),
    plan === undefined ? UNKNOWN : heldText(plan),
    reportAge,
    "",
  ];
};

const heldText = ({ heldTokens, heldProbability }: NonNullable<ConsideredView["plan"]>): string =>
  heldTokens === 0 || heldProbability >= 0.995
    ? count(heldTokens)
    : `${count(heldTokens)} (p ${fraction(heldProbability)})`;

/** The reason and whatever else the exclusion says, such as "down cause=probe". */
const exclusionText = (exclusion: ConsideredView["exclusion"]): Cell => {
  if (exclusion === undefined) return "";
  const { reason, ...rest } = exclusion;
  const more = Object.entries(rest).map(([name, value]) => ` ${name}=${String(value)}`);
  return { text: `${reason}${more.join("")}`, colour: "dim" };
};

/** Excluded regions last, in the order of the configuration. */
const cheapestFirst = (considered: readonly ConsideredView[]): readonly ConsideredView[] =>
  considered.toSorted((a, b) => totalOf(a) - totalOf(b));

const totalOf = ({ cost }: ConsideredView): number => cost?.totalMs ?? Number.MAX_VALUE;
