/** A decision as a pipeline: who asked, which regions were considered, what each would cost, what was answered. */
import type { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { instant } from "../../quantity-text.ts";
import { VerdictChip } from "./chip.tsx";
import { CostBars } from "./cost-bars.tsx";
import { hrefOf } from "./place.ts";
import { age, count, milliseconds } from "./quantity.ts";

export const DecisionText = ({ decision }: { readonly decision: DecisionSchema }) => {
  const { verdict, conversation, client, considered } = decision;
  const candidates = considered.filter(({ cost }) => cost !== undefined).length;
  return (
    <>
      <p class="explanation">
        <VerdictChip kind={verdict.kind} /> {decision.explanation}
      </p>
      {decision.flipsIf !== null && <p class="flips">It would have gone otherwise if {decision.flipsIf}.</p>}
      <ol class="pipeline">
        <li>
          <strong>Asked</strong> {instant(decision.at)}, {decision.channel} {decision.kind}, pool {decision.pool}, model{" "}
          {decision.model}, tenant {decision.tenant}
        </li>
        <li>
          <strong>Client</strong> {client.subnet}, {client.place ?? client.area ?? "place not known"} ({client.source})
        </li>
        <li>
          <strong>Conversation</strong>{" "}
          {conversation === null ? (
            "none: nothing names one"
          ) : (
            <>
              <a href={hrefOf("conversations", conversation.id)}>{conversation.id}</a>,{" "}
              {count(conversation.contextTokens)} tokens
              {conversation.isContextAssumed && " (assumed)"}, {count(conversation.newTokens)} new, home{" "}
              {conversation.home ?? "none"}, idle {age(conversation.idleMs)}
            </>
          )}
        </li>
        <li>
          <strong>Considered</strong> {considered.length} regions, of which {candidates} may serve; by a world{" "}
          {milliseconds(decision.worldAgeMs)} old
        </li>
        <li>
          <strong>Answered</strong> {verdict.region ?? "nothing"} ({decision.answeredWith}), {count(decision.answered)}{" "}
          times, to be kept for {decision.ttlSeconds} s
          {decision.overrideId !== null && `; override ${decision.overrideId}`}
          {(decision.yieldedOverrideIds ?? []).map((id) => `; the share of override ${id} yielded`)}
          {decision.mode !== "enforce" && `; ${decision.mode}`}
        </li>
      </ol>
      <CostBars decision={decision} />
    </>
  );
};
