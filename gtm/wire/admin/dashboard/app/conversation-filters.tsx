/** Which conversations are wanted: filters and order, kept in the address. */
import { useState } from "preact/hooks";
import { hrefOf, type Place } from "./place.ts";

const FIELDS = [
  { name: "region", title: "Home", hint: "a region" },
  { name: "model", title: "Model", hint: "id or alias" },
  { name: "pool", title: "Pool", hint: "any" },
  { name: "tenant", title: "Tenant", hint: "any" },
  { name: "min_tokens", title: "At least tokens", hint: "10000" },
  { name: "idle", title: "Idle for", hint: "30m" },
] as const;

const SORTS = [
  ["", "latest turn first"],
  ["tokens", "largest context first"],
  ["idle", "longest idle first"],
  ["region", "by home"],
] as const;

const NAMES: readonly string[] = [...FIELDS.map(({ name }) => name), "sort"];

/** What the address says; names that are none of these are left out. */
export const filtersIn = ({ filters }: Place): Readonly<Record<string, string>> =>
  Object.fromEntries(NAMES.map((name) => [name, filters.get(name) ?? ""] as const).filter(([, value]) => value !== ""));

/** As the command line names them. */
export const filterWords = (filters: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(filters).flatMap(([name, value]) => [`--${name.replace("_", "-")}`, value]);

export const ConversationFilters = ({ place }: { readonly place: Place }) => {
  const [wanted, setWanted] = useState<Readonly<Record<string, string>>>(filtersIn(place));
  const set = (name: string, value: string): void => setWanted((before) => ({ ...before, [name]: value.trim() }));
  return (
    <form
      class="fields"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
        location.hash = hrefOf("conversations", "", wanted);
      }}
    >
      {FIELDS.map(({ name, title, hint }) => (
        <label key={name}>
          {title}
          <input
            class="short"
            placeholder={hint}
            value={wanted[name] ?? ""}
            onInput={(event) => set(name, event.currentTarget.value)}
          />
        </label>
      ))}
      <label>
        Order
        <select value={wanted["sort"] ?? ""} onChange={(event) => set("sort", event.currentTarget.value)}>
          {SORTS.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Find</button>
      {Object.keys(filtersIn(place)).length > 0 && <a href={hrefOf("conversations")}>all</a>}
    </form>
  );
};
