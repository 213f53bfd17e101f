/** One conversation: where it is at home, who holds how much of it, how its latest turns went, and orders about it. */
import type { ConversationDetail } from "#gtm/wire/admin/conversation-view.ts";
import { Command } from "../command.tsx";
import { ConversationOrders } from "../conversation-orders.tsx";
import { DataTable } from "../data-table.tsx";
import { hrefOf } from "../place.ts";
import { age, clockTime, count, milliseconds } from "../quantity.ts";
import { Empty, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";

const POLL_MS = 5_000;

export const ConversationScreen = ({ label }: { readonly label: string }) => {
  const known = useApi<ConversationDetail>(`/conversations/${encodeURIComponent(label)}`, POLL_MS);
  return (
    <>
      <h2>Conversation {label}</h2>
      <p>
        <a href={hrefOf("conversations")}>All conversations</a>
      </p>
      <WithState known={known} what="conversation">
        {(one) => (
          <>
            <About one={one} />
            <Held one={one} />
            <History one={one} />
            <Command words={["conversations", "show", label]} />
            <ConversationOrders one={one} onDone={known.again} />
          </>
        )}
      </WithState>
    </>
  );
};

const About = ({ one }: { readonly one: ConversationDetail }) => (
  <>
    {one.isHomeOrdered && (
      <p class="box warn">
        Somebody ordered it to {one.home}: its next turn goes there, and costs decide again after it.
      </p>
    )}
    <p>
      {one.id} is at home in <a href={hrefOf("regions", one.home)}>{one.home}</a>: {count(one.contextTokens)} tokens of{" "}
      {one.model}
      {one.pool !== null && ` in pool ${one.pool}`}, after {count(one.turns)} turns, idle for {age(one.idleMs)},{" "}
      {one.isPinned ? "pinned" : "no longer pinned"}.{" "}
      <a href={hrefOf("decisions", "", { conversation: one.id })}>Its decisions</a>
    </p>
    {one.refusedBy.length > 0 && <p>Refused a moment ago by {one.refusedBy.join(", ")}.</p>}
  </>
);

const Held = ({ one }: { readonly one: ConversationDetail }) => (
  <DataTable
    caption="Held in"
    rows={one.holdings}
    keyOf={({ region }) => region}
    columns={[
      { title: "Region", cell: ({ region }) => region },
      { title: "Replica", cell: ({ replica }) => replica ?? "not known" },
      { title: "Tokens", isNumber: true, cell: ({ tokens }) => count(tokens) },
      { title: "Since", isNumber: true, cell: ({ ageMs }) => age(ageMs) },
    ]}
  />
);

const History = ({ one }: { readonly one: ConversationDetail }) =>
  one.history.length === 0 ? (
    <Empty>No gateway has measured a turn of it since this instance began.</Empty>
  ) : (
    <DataTable
      caption="Its latest turns, as gateways measured them"
      rows={one.history}
      keyOf={({ endedAt, decision }) => `${endedAt} ${decision ?? ""}`}
      columns={[
        { title: "Ended", cell: ({ endedAt }) => clockTime(endedAt) },
        { title: "In", cell: ({ region }) => region },
        { title: "Prompt", isNumber: true, cell: ({ promptTokens }) => count(promptTokens) },
        { title: "Cached", isNumber: true, cell: ({ cachedTokens }) => count(cachedTokens) },
        { title: "Promised", isNumber: true, cell: ({ promisedTokens }) => count(promisedTokens) },
        { title: "First token", isNumber: true, cell: ({ ttftMs }) => milliseconds(ttftMs) },
        { title: "Expected", isNumber: true, cell: ({ predictedTtftMs }) => milliseconds(predictedTtftMs) },
        { title: "Outcome", cell: ({ outcome }) => outcome },
        {
          title: "Why",
          cell: ({ decision }) => (decision === null ? "–" : <a href={hrefOf("decision", decision)}>why</a>),
        },
      ]}
    />
  );
