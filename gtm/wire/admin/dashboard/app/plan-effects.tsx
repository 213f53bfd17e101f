/** What an order would do to conversations and models. */
import type { OrderEffects } from "#gtm/wire/admin/order-effects.ts";
import { DataTable } from "./data-table.tsx";
import { PlanDisplaced } from "./plan-displaced.tsx";
import { age, count, milliseconds, percent } from "./quantity.ts";

type Wish = { readonly effects: OrderEffects; readonly which: string };

const useText = (use: OrderEffects["uses"][number]["kvUsedFraction"]): string =>
  use === null ? "not known" : `${percent(use.now)} → ${percent(use.after)}`;

/** Regions, a fraction, or milliseconds since the last change. */
const measured = (rule: string, value: number): string => {
  if (rule === "cooldown") return age(value);
  return rule === "maxUsedAfterDrainFraction" ? percent(value) : count(value);
};

export const PlanEffects = ({ effects, which }: Wish) => {
  const { conversations, nextTurns, modelsWithoutRegion, modelsToLoad, uses, violations } = effects;
  const { home, isComplete, pinned, hot, idle, located } = conversations;
  return (
    <>
      {violations.map(({ rule, detail, found, limit }) => (
        <p key={rule + detail} class="box bad" role="alert">
          The safety rule <strong>{rule}</strong> refuses it: {detail}. Found {measured(rule, found)}, the limit is{" "}
          {measured(rule, limit)}.
        </p>
      ))}
      {home === 0 ? (
        <p>No conversation is {which}.</p>
      ) : (
        <>
          <p>
            {isComplete ? "" : "More than "}
            {count(home)} {home === 1 ? "conversation is" : "conversations are"} {which}: {count(pinned)} pinned (
            {count(hot)} hot), {count(idle)} idle.
            {located < home &&
              ` Of ${count(home - located)} the client's network is not known: for them every region is equally far.`}
          </p>
          <DataTable
            caption="Where their next turns go"
            keyOf={({ region }) => region ?? "-"}
            rows={nextTurns}
            columns={[
              { title: "Region", cell: ({ region }) => region ?? "(no region)" },
              { title: "Now", isNumber: true, cell: ({ before }) => count(before) },
              { title: "Under the order", isNumber: true, cell: ({ after }) => count(after) },
            ]}
          />
          <PlanDisplaced effects={effects} />
        </>
      )}
      {uses.length > 0 && (
        <DataTable
          caption="How full the regions are that they go to"
          keyOf={({ region, model }) => `${region} ${model}`}
          rows={uses}
          columns={[
            { title: "Region", cell: ({ region }) => region },
            { title: "Model", cell: ({ model }) => model },
            { title: "Arriving", isNumber: true, cell: ({ arriving }) => count(arriving) },
            {
              title: "KV memory of running requests",
              isNumber: true,
              cell: ({ kvUsedFraction }) => useText(kvUsedFraction),
            },
            { title: "Prefill", isNumber: true, cell: ({ prefillUsedFraction }) => useText(prefillUsedFraction) },
          ]}
        />
      )}
      <p>
        Models without a region:{" "}
        {modelsWithoutRegion.length === 0
          ? "none"
          : modelsWithoutRegion.map(({ pool, model }) => `${model} of pool ${pool}`).join(", ")}
        . Models to load first:{" "}
        {modelsToLoad.length === 0
          ? "none"
          : modelsToLoad
              .map(({ model, region, coldStartMs }) => `${model} in ${region} (${milliseconds(coldStartMs)})`)
              .join(", ")}
        .
      </p>
    </>
  );
};
