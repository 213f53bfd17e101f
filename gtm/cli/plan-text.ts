/** What an order would change, for the person who is about to give it. */
import type { OrderEffects } from "#gtm/wire/admin/order-effects.ts";
import type { OrderPlan } from "#gtm/wire/admin/order-plan.ts";
import { kindText } from "#gtm/wire/admin/override-kind.ts";
import type { OverridePlan } from "#gtm/wire/admin/override-order.ts";
import { count, milliseconds, untilText } from "./quantity.ts";
import { facts, table } from "./table.ts";

export const planText = (plan: OrderPlan, isColourful: boolean): string =>
  inParagraphs([
    head(plan),
    turns(plan, `at home in ${plan.region}`, isColourful),
    facts([...modelFacts(plan), ["resolvers", resolversText(plan)]]),
    violations(plan),
  ]);

export const overridePlanText = (plan: OverridePlan, isColourful: boolean): string =>
  inParagraphs([
    overrideHead(plan),
    turns(plan, "known, at home in any region", isColourful),
    facts(modelFacts(plan)),
    violations(plan),
  ]);

const inParagraphs = (parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n");

const head = (plan: OrderPlan): string => {
  if (!plan.changes) return `${plan.region} is ${plan.from} already; at most comment and expiry would change.\n`;
  return `${plan.region}: ${plan.from} → ${plan.to}${plan.to === "active" ? "" : untilText(plan)}\n`;
};

const overrideHead = ({ override, regions }: OverridePlan): string => {
  const { pool, model, tenant } = override;
  return `${kindText(override)} ${regions.join(", ")} for pool ${pool}, model ${model}, tenant ${tenant}${untilText(override)}\n`;
};

/** @param which of all conversations these are */
const turns = ({ conversations, nextTurns, recompute }: OrderEffects, which: string, isColourful: boolean): string => {
  const { home, isComplete, pinned, idle, located } = conversations;
  if (home === 0) return `No conversation is ${which}.\n`;
  const many = isComplete ? count(home) : `More than ${count(home)}`;
  const rows = nextTurns.map((one) => [one.region ?? "(no region)", count(one.before), count(one.after)]);
  const unlocated =
    located === home
      ? ""
      : `Of ${count(home - located)} the client's network is not known: for them every region is equally far.\n`;
  return [
    `${many} ${home === 1 ? "conversation is" : "conversations are"} ${which}: ${count(pinned)} pinned, ${count(idle)} idle. Their next turns:\n`,
    table(
      [{ header: "TO" }, { header: "NOW", align: "right" }, { header: "UNDER THE ORDER", align: "right" }],
      rows,
      isColourful,
    ),
    `They would compute ${count(recompute.afterTokens)} tokens again (now ${count(recompute.beforeTokens)}), ${milliseconds(recompute.afterMs)} of prefill.\n`,
    unlocated,
  ].join("");
};

const modelFacts = ({ modelsWithoutRegion, modelsToLoad }: OrderEffects): readonly (readonly [string, string])[] => [
  [
    "models without a region",
    modelsWithoutRegion.length === 0
      ? "none"
      : modelsWithoutRegion.map(({ pool, model }) => `${model} of pool ${pool}`).join(", "),
  ],
  [
    "models to load first",
    modelsToLoad.length === 0
      ? "none"
      : modelsToLoad
          .map(({ model, region, coldStartMs }) => `${model} in ${region} (${milliseconds(coldStartMs)})`)
          .join(", "),
  ],
];

const resolversText = ({ resolvers }: OrderPlan): string =>
  `up to ${resolvers.lingerSeconds} s until answers expire. ${resolvers.note}`;

const violations = (plan: OrderEffects): string =>
  plan.violations.map(({ rule, detail }) => `Refused by the safety rule ${rule}: ${detail}.\n`).join("");
