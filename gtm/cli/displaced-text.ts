/** What a plan says of the conversations that would go elsewhere: how fast, at what price, and what is left where they go. */
import type { PacedPlan } from "#gtm/wire/admin/drain-pacing.ts";
import type { OrderEffects } from "#gtm/wire/admin/order-effects.ts";
import { age, count, fraction, milliseconds } from "./quantity.ts";
import { table } from "./table.ts";
import { wrapped } from "./wrapped.ts";

/** Empty where nothing is paced. */
export const pacedText = (paced: PacedPlan | null): string => {
  if (paced === null) return "";
  const half = paced.quarters.find((one) => one.fraction === 0.5);
  const halfText =
    half === undefined ? "" : `half (up to ${count(half.upToTokens)} tokens) within ${age(half.afterMs)}, `;
  const spare =
    paced.wantedMs === null
      ? "Nobody else has spare prefill, as far as reports say."
      : `The others' spare prefill would need ${age(paced.wantedMs)}.`;
  const hurry = paced.isHurried ? " That is longer: turns will wait." : "";
  return wrapped(
    `By and by, the cheapest first: ${halfText}all free to leave within ${age(paced.endsInMs)} (asked: ${age(paced.deadlineInMs)}). ${spare}${hurry}`,
  );
};

/** Empty where nobody would go elsewhere. */
export const displacedText = ({ displaced, targets }: OrderEffects, isColourful: boolean): string => {
  if (displaced.conversations === 0) return "";
  const { conversations, contextTokens, recomputeTokens, replicaSeconds, ttftP95BeforeMs, ttftP95AfterMs } = displaced;
  const verb = conversations === 1 ? "goes" : "go";
  const firstTokens =
    ttftP95AfterMs === null
      ? "They find no region."
      : `First token p95: now ${milliseconds(ttftP95BeforeMs)}, then ${milliseconds(ttftP95AfterMs)}.`;
  return [
    wrapped(
      `${count(conversations)} ${verb} elsewhere with ${count(contextTokens)} tokens: ${count(recomputeTokens)} to compute again, ${age(replicaSeconds * 1_000)} of one replica's GPUs. ${firstTokens}`,
    ),
    targets.length === 0
      ? ""
      : table(
          [
            { header: "REGION" },
            { header: "COMING", align: "right" },
            { header: "TOKENS AGAIN", align: "right" },
            { header: "SPARE TOKENS/S", align: "right" },
            { header: "THEN", align: "right" },
            { header: "KV USED", align: "right" },
            { header: "THEN", align: "right" },
          ],
          targets.map((one) => [
            ...[one.region, count(one.conversations), count(one.recomputeTokens)],
            ...[count(one.sparePrefillTokensPerSecond), count(one.sparePrefillAfterTokensPerSecond)],
            ...[fraction(one.kvCacheUsedFraction), fraction(one.kvCacheUsedAfterFraction)],
          ]),
          isColourful,
        ),
  ].join("");
};
