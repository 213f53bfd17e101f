/** What an order would change, for the person who is about to give it. */
import type { OrderEffects } from "#gtm/wire/admin/order-effects.ts";
import type { OrderPlan } from "#gtm/wire/admin/order-plan.ts";
import type { OverridePlan } from "#gtm/wire/admin/override-body.ts";
import { kindText } from "#gtm/wire/admin/override-kind.ts";
import { displacedText, pacedText } from "./displaced-text.ts";
import { count, fraction, milliseconds, untilText } from "./quantity.ts";
import { facts, table } from "./table.ts";
import { wrapped } from "./wrapped.ts";

export const planText = (plan: OrderPlan, isColourful: boolean): string =>
  inParagraphs([
    head(plan) + pacedText(plan.paced),
    turns(plan, `at home in ${plan.region}`, isColourful),
    displacedText(plan, isColourful),
    facts(modelFacts(plan)),
    resolversText(plan),
    violations(plan),
  ]);

/** For whoever reads a dry run: how to have it carried out as it was read. */
export const planIdText = ({ planId }: { readonly planId: string }): string =>
  `\nFor five minutes --plan-id carries it out only as long as it holds:\n${planId}\n`;

export const overridePlanText = (plan: OverridePlan, isColourful: boolean): string =>
  inParagraphs([
    overrideHead(plan) + pacedText(plan.paced),
    turns(
      plan,
      isDrain(plan) ? `concerned, at home in ${plan.override.region}` : "known, at home in any region",
      isColourful,
    ),
    displacedText(plan, isColourful),
    facts(modelFacts(plan)),
    isDrain(plan) ? resolversText(plan) : "",
    violations(plan),
  ]);

const isDrain = ({ override }: OverridePlan): boolean => override.kind.startsWith("drain");

const inParagraphs = (parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n");

const head = (plan: OrderPlan): string => {
  if (!plan.changes) return `${plan.region} is ${plan.from} already; at most comment and expiry would change.\n`;
  return `${plan.region}: ${plan.from} → ${plan.to}${plan.to === "active" ? "" : untilText(plan)}\n`;
};

const overrideHead = ({ deed, override, regions }: OverridePlan): string => {
  const { pool, model, tenant } = override;
  const doing = deed === "cancel" ? "Cancel: " : deed === "change" ? "Change to: " : "";
  return `${doing}${kindText(override)} ${regions.join(", ")} for pool ${pool}, model ${model}, tenant ${tenant}${untilText(override)}\n`;
};

/** @param which of all conversations these are */
const turns = (
  { conversations, nextTurns, recompute, displaced }: OrderEffects,
  which: string,
  isColourful: boolean,
): string => {
  const { home, isComplete, pinned, hot, idle, located } = conversations;
  if (home === 0) return `No conversation is ${which}.\n`;
  const many = isComplete ? count(home) : `More than ${count(home)}`;
  const rows = nextTurns.map((one) => [one.region ?? "(no region)", count(one.before), count(one.after)]);
  const unlocated =
    located === home
      ? ""
      : `Of ${count(home - located)} the client's network is not known: for them every region is equally far.\n`;
  return [
    `${many} ${home === 1 ? "conversation is" : "conversations are"} ${which}: ${count(pinned)} pinned (${count(hot)} hot), ${count(idle)} idle. Their next turns:\n`,
    table(
      [{ header: "TO" }, { header: "NOW", align: "right" }, { header: "UNDER THE ORDER", align: "right" }],
      rows,
      isColourful,
    ),
    displaced.conversations > 0
      ? ""
      : `They would compute ${count(recompute.afterTokens)} tokens again (now ${count(recompute.beforeTokens)}), ${milliseconds(recompute.afterMs)} of prefill.\n`,
    unlocated,
  ].join("");
};

const modelFacts = ({
  modelsWithoutRegion,
  modelsToLoad,
  uses,
}: OrderEffects): readonly (readonly [string, string])[] => [
  ...useFacts(uses),
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

/** What is busy there, not what caches hold: "llama-70b in paris: KV memory 0.10 → 0.20, prefill 0.30 → 0.35". */
const useFacts = (uses: OrderEffects["uses"]): readonly (readonly [string, string])[] =>
  uses.map(({ region, model, kvUsedFraction, prefillUsedFraction }, at) => [
    at === 0 ? "busy with them" : "",
    `${model} in ${region}: KV memory ${useText(kvUsedFraction)}, prefill ${useText(prefillUsedFraction)}`,
  ]);

const useText = (use: OrderEffects["uses"][number]["kvUsedFraction"]): string =>
  use === null ? "not known" : `${fraction(use.now)} → ${fraction(use.after)}`;

const resolversText = ({ resolvers }: Pick<OrderPlan, "resolvers">): string =>
  wrapped(`Resolvers: up to ${resolvers.lingerSeconds} s until answers expire. ${resolvers.note}`);

const violations = (plan: OrderEffects): string =>
  plan.violations.map(({ rule, detail }) => `Refused by the safety rule ${rule}:\n  ${detail}.\n`).join("");
