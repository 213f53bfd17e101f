/** Conversations by home, found by what they have in common; one of them by its label or id. */
import { useState } from "preact/hooks";
import type { ConversationView } from "#gtm/wire/admin/conversation-view.ts";
import { Command } from "../command.tsx";
import { ConversationFilters, filtersIn, filterWords } from "../conversation-filters.tsx";
import { hrefOf, type Place } from "../place.ts";
import { age, count } from "../quantity.ts";
import { Empty, Forbidden, Refused } from "../state-box.tsx";
import { type Conversations, MOST_ROWS, useConversations } from "../use-conversations.ts";
import { useNow } from "../use-now.ts";
import { type WindowColumn, WindowTable } from "../window-table.tsx";

export const ConversationsScreen = ({ place }: { readonly place: Place }) => {
  const filters = filtersIn(place);
  const query = new URLSearchParams(filters).toString();
  const known = useConversations(query);
  return (
    <>
      <h2>Conversations</h2>
      <ByName />
      <ConversationFilters key={query} place={place} />
      <Found known={known} isFiltered={query !== ""} />
      <Command words={["conversations", "list", ...filterWords(filters)]} />
    </>
  );
};

const ByName = () => {
  const [text, setText] = useState("");
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") location.hash = hrefOf("conversations", text.trim());
      }}
    >
      <label>
        Label or id <input value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>{" "}
      <button type="submit">Show</button>
    </form>
  );
};

type FoundWish = {
  readonly known: ReturnType<typeof useConversations>;
  readonly isFiltered: boolean;
};

const Found = ({ known, isFiltered }: FoundWish) => {
  const { items, next, failure, isAsking, atMs } = known;
  if (failure?.kind === "forbidden") return <Forbidden detail={failure.detail} />;
  if (items.length === 0 && failure === null && (isAsking || next !== null)) {
    return <Searching known={known} />;
  }
  return (
    <>
      <Refused failure={failure} />
      {items.length > 0 && (
        <WindowTable
          caption="Conversations"
          columns={COLUMNS}
          rows={items}
          keyOf={({ id }) => id}
          onNearEnd={known.more}
        />
      )}
      {items.length === 0 && failure === null && (
        <Empty>{isFiltered ? "No conversation is like this." : "No conversation is known."}</Empty>
      )}
      <p>
        {items.length > 0 && (
          <strong>
            {`${count(items.length)} conversations${next === null || items.length >= MOST_ROWS ? "" : ", more as you scroll"}`}
          </strong>
        )}{" "}
        <button type="button" onClick={known.again}>
          Ask again
        </button>{" "}
        {atMs !== null && <Asked atMs={atMs} />}
        {items.length >= MOST_ROWS && ` Only the first ${count(MOST_ROWS)} are shown: a filter finds the others.`}
      </p>
    </>
  );
};

const Asked = ({ atMs }: { readonly atMs: number }) => {
  const nowMs = useNow();
  return <small>as it was {age(nowMs - atMs)} ago</small>;
};

/** Where few pass the filter the API answers with short pages: somebody decides how far to look. */
const Searching = ({ known }: { readonly known: Conversations & { readonly more: () => void } }) =>
  known.isAsking ? (
    <p class="box waiting" aria-busy="true">
      Asking for conversations.
    </p>
  ) : (
    <p class="box empty">
      None among {count(known.examined)} that were looked at.{" "}
      <button type="button" onClick={known.more}>
        Look further
      </button>
    </p>
  );

const COLUMNS: readonly WindowColumn<ConversationView>[] = [
  {
    title: "Conversation",
    width: 16,
    cell: ({ id }) => <a href={hrefOf("conversations", id)}>{id}</a>,
  },
  { title: "Home", width: 14, cell: ({ home, isHomeOrdered }) => (isHomeOrdered ? `${home}, ordered` : home) },
  { title: "Model", width: 25, cell: ({ model }) => <span title={model}>{model}</span> },
  { title: "Tokens", width: 9, isNumber: true, cell: ({ contextTokens }) => count(contextTokens) },
  { title: "Turns", width: 7, isNumber: true, cell: ({ turns }) => count(turns) },
  { title: "Idle", width: 9, isNumber: true, cell: ({ idleMs }) => age(idleMs) },
  { title: "Pinned", width: 7, cell: ({ isPinned }) => (isPinned ? "yes" : "no") },
  {
    title: "Also held in",
    width: 13,
    cell: ({ holdings }) =>
      holdings
        .slice(1)
        .map(({ region }) => region)
        .join(", "),
  },
];
