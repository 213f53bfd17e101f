/** Conversations as a terminal shows them: a line each, one in full, and what moving one would do. */
import type { z } from "zod";
import type { MovePlan, ReleasePlan } from "#gtm/wire/admin/conversation-plan.ts";
import type { ConversationDetail, ConversationView } from "#gtm/wire/admin/conversation-view.ts";
import { instant } from "#gtm/wire/admin/quantity-text.ts";
import type { Look } from "./fitted.ts";
import { age, count, milliseconds, UNKNOWN, yesNo } from "./quantity.ts";
import { facts, table } from "./table.ts";

export const conversationTable = (items: readonly ConversationView[], look: Look): string =>
  table(
    [
      { header: "CONVERSATION" },
      { header: "HOME" },
      { header: "MODEL", canShorten: true },
      { header: "TOKENS", align: "right" },
      { header: "TURNS", align: "right", leave: 1 },
      { header: "IDLE", align: "right" },
      { header: "PINNED" },
      { header: "ALSO HELD IN", canShorten: true },
    ],
    items.map((one) => [
      one.id,
      one.isHomeOrdered ? `${one.home} (ordered)` : one.home,
      one.model,
      count(one.contextTokens),
      count(one.turns),
      age(one.idleMs),
      yesNo(one.isPinned),
      one.holdings
        .slice(1)
        .map(({ region }) => region)
        .join(", ") || UNKNOWN,
    ]),
    look,
  );

export const conversationText = (one: ConversationDetail, isColourful: boolean): string => {
  const about = facts([
    ["conversation", one.id],
    ["home", one.isHomeOrdered ? `${one.home}, ordered; its next turn goes there` : one.home],
    ["pool", one.pool ?? UNKNOWN],
    ["model", one.model],
    ["context", `${count(one.contextTokens)} tokens`],
    ["turns", count(one.turns)],
    ["idle", `${age(one.idleMs)}, ${one.isPinned ? "pinned" : "no longer pinned"}`],
    ["refused by", one.refusedBy.length === 0 ? "none" : one.refusedBy.join(", ")],
  ]);
  const held = table(
    [
      { header: "HELD IN" },
      { header: "REPLICA" },
      { header: "TOKENS", align: "right" },
      { header: "SINCE", align: "right" },
    ],
    one.holdings.map(({ region, replica, tokens, ageMs }) => [region, replica ?? UNKNOWN, count(tokens), age(ageMs)]),
    isColourful,
  );
  return `${about}\n${held}${historyText(one.history, isColourful)}`;
};

const historyText = (history: ConversationDetail["history"], isColourful: boolean): string =>
  history.length === 0
    ? "\nNo gateway has measured a turn of it since this GTM began.\n"
    : `\n${table(
        [
          { header: "TURN ENDED" },
          { header: "IN" },
          { header: "PROMPT", align: "right" },
          { header: "CACHED", align: "right" },
          { header: "PROMISED", align: "right" },
          { header: "TTFT", align: "right" },
          { header: "EXPECTED", align: "right" },
          { header: "OUTCOME" },
        ],
        history.map((turn) => [
          instant(turn.endedAt),
          turn.region,
          count(turn.promptTokens),
          count(turn.cachedTokens),
          count(turn.promisedTokens),
          milliseconds(turn.ttftMs),
          milliseconds(turn.predictedTtftMs),
          turn.outcome,
        ]),
        isColourful,
      )}`;

export const moveText = (plan: z.infer<typeof MovePlan>): string => {
  const { unmoved, afterwards, recomputeTokens, recomputeMs } = plan;
  const work = `${count(recomputeTokens)} of ${count(plan.contextTokens)} tokens, ${milliseconds(recomputeMs)} of prefill`;
  return facts([
    ["conversation", plan.conversation],
    ["moves", `${plan.from} → ${plan.to}, with its next turn`],
    ["computes again", work],
    ["first token", `in ${milliseconds(plan.ttftMs)}; ${unmovedText(unmoved)}`],
    [
      "afterwards",
      afterwards.isMovedBack
        ? `would go ${afterwards.region === null ? "nowhere" : `to ${afterwards.region}`}: ${afterwards.explanation}`
        : afterwards.explanation,
    ],
    ["client", plan.isLocated ? "located by its last decision" : "not known here: every region counts as equally far"],
  ]);
};

const unmovedText = ({ region, ttftMs }: z.infer<typeof MovePlan>["unmoved"]): string =>
  region === null ? "without it no region would serve" : `without it ${milliseconds(ttftMs)} in ${region}`;

export const releaseText = (plan: z.infer<typeof ReleasePlan>): string => {
  if (!plan.isKnown) return `${plan.conversation}: nothing is known of it\n`;
  const turn = (next: (typeof plan)["released"]): string =>
    next === null || next.region === null ? "nowhere" : `${next.region}, first token in ${milliseconds(next.ttftMs)}`;
  return facts([
    ["conversation", plan.conversation],
    ["forgets", `${count(plan.contextTokens)} tokens at home in ${plan.from ?? UNKNOWN}`],
    ["next turn now", turn(plan.unreleased)],
    ["next turn then", turn(plan.released)],
  ]);
};
