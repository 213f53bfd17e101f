/** What an order costs those whose next turn goes elsewhere, and what is left where they go. */
import type { OrderEffects } from "#gtm/wire/admin/order-effects.ts";
import { DataTable } from "./data-table.tsx";
import { age, count, milliseconds, percent } from "./quantity.ts";

export const PlanDisplaced = ({ effects }: { readonly effects: OrderEffects }) => {
  const { displaced, targets } = effects;
  if (displaced.conversations === 0) return null;
  return (
    <>
      <p>
        {count(displaced.conversations)} {displaced.conversations === 1 ? "goes" : "go"} elsewhere with{" "}
        {count(displaced.contextTokens)} tokens: {count(displaced.recomputeTokens)} to compute again,{" "}
        {age(displaced.replicaSeconds * 1_000)} of one replica's GPUs.{" "}
        {displaced.ttftP95AfterMs === null
          ? "They find no region."
          : `First token of 95 in 100: now within ${milliseconds(displaced.ttftP95BeforeMs)}, then within ${milliseconds(displaced.ttftP95AfterMs)}.`}
      </p>
      {targets.length > 0 && (
        <DataTable
          caption="What is left where they go"
          keyOf={({ region }) => region}
          rows={targets}
          columns={[
            { title: "Region", cell: ({ region }) => region },
            { title: "Coming", isNumber: true, cell: ({ conversations }) => count(conversations) },
            { title: "Tokens again", isNumber: true, cell: ({ recomputeTokens }) => count(recomputeTokens) },
            {
              title: "Spare tokens/s",
              isNumber: true,
              cell: (one) =>
                `${count(one.sparePrefillTokensPerSecond)} → ${count(one.sparePrefillAfterTokensPerSecond)}`,
            },
            {
              title: "KV used",
              isNumber: true,
              cell: (one) => `${percent(one.kvCacheUsedFraction)} → ${percent(one.kvCacheUsedAfterFraction)}`,
            },
          ]}
        />
      )}
    </>
  );
};
