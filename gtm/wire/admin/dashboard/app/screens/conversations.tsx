/** Conversations by home, a page at a time; one of them by its label or id. */
import { useState } from "preact/hooks";
import type { ConversationView } from "#gtm/wire/admin/conversation-view.ts";
import { Command } from "../command.tsx";
import { DataTable } from "../data-table.tsx";
import { hrefOf, type Place } from "../place.ts";
import { age, count } from "../quantity.ts";
import { Empty, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";

type Page = { readonly items: readonly ConversationView[]; readonly next_cursor: string | null };

const PAGE = "100";

export const ConversationsScreen = ({ place }: { readonly place: Place }) => {
  const region = place.filters.get("region") ?? "";
  const cursor = place.filters.get("cursor") ?? "";
  const query = new URLSearchParams({
    limit: PAGE,
    ...(region === "" ? {} : { region }),
    ...(cursor === "" ? {} : { cursor }),
  });
  const page = useApi<Page>(place.subject === "" ? `/conversations?${query}` : null, null);
  const one = useApi<ConversationView>(
    place.subject === "" ? null : `/conversations/${encodeURIComponent(place.subject)}`,
    null,
  );
  const [text, setText] = useState(place.subject);
  return (
    <>
      <h2>Conversations</h2>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          location.hash = hrefOf("conversations", text.trim());
        }}
      >
        <label>
          Label or id <input value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>{" "}
        <button type="submit">Show</button>
        {region !== "" && (
          <>
            {" "}
            only at home in {region} <a href={hrefOf("conversations")}>(all)</a>
          </>
        )}
      </form>
      {place.subject === "" ? (
        <WithState known={page} what="list of conversations">
          {({ items, next_cursor: next }) =>
            items.length === 0 ? (
              <Empty>No conversation is known{region === "" ? "" : ` at home in ${region}`}.</Empty>
            ) : (
              <>
                <List items={items} />
                <p>
                  <button type="button" onClick={page.again}>
                    Ask again
                  </button>{" "}
                  {next !== null && <a href={hrefOf("conversations", "", { region, cursor: next })}>Next {PAGE}</a>}
                </p>
              </>
            )
          }
        </WithState>
      ) : (
        <WithState known={one} what="conversation">
          {(body) => <One one={body} />}
        </WithState>
      )}
      <Command
        words={
          place.subject === ""
            ? ["conversations", "list", ...(region === "" ? [] : ["--region", region])]
            : ["conversations", "show", place.subject]
        }
      />
    </>
  );
};

const List = ({ items }: { readonly items: readonly ConversationView[] }) => (
  <DataTable
    caption="Conversations"
    rows={items}
    keyOf={({ id }) => id}
    columns={[
      { title: "Conversation", cell: ({ id }) => <a href={hrefOf("conversations", id)}>{id}</a> },
      { title: "Home", cell: ({ home }) => home },
      { title: "Model", cell: ({ model }) => model },
      { title: "Tokens", isNumber: true, cell: ({ contextTokens }) => count(contextTokens) },
      { title: "Turns", isNumber: true, cell: ({ turns }) => count(turns) },
      { title: "Idle", isNumber: true, cell: ({ idleMs }) => age(idleMs) },
      { title: "Pinned", cell: ({ isPinned }) => (isPinned ? "yes" : "no") },
      {
        title: "Also held in",
        cell: ({ holdings }) =>
          holdings
            .slice(1)
            .map(({ region }) => region)
            .join(", "),
      },
    ]}
  />
);

const One = ({ one }: { readonly one: ConversationView }) => (
  <>
    <p>
      {one.id} is at home in <a href={hrefOf("regions", one.home)}>{one.home}</a>: {count(one.contextTokens)} tokens
      after {count(one.turns)} turns, idle for {age(one.idleMs)}, {one.isPinned ? "pinned" : "no longer pinned"}.{" "}
      <a href={hrefOf("decisions", "", { conversation: one.id })}>Its decisions</a>
    </p>
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
  </>
);
