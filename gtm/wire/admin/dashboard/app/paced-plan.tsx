/** A drain by and by, before it is ordered: who is free to leave when, and whether the others can take it at that pace. */
import type { PacedPlan as Paced } from "#gtm/wire/admin/drain-pacing.ts";
import { DataTable } from "./data-table.tsx";
import { age, count, percent } from "./quantity.ts";

export const PacedPlan = ({ paced }: { readonly paced: Paced | null }) => {
  if (paced === null) return null;
  const { pace, deadlineInMs, endsInMs, wantedMs, isHurried, quarters } = paced;
  return (
    <>
      <p class={isHurried ? "box warn" : undefined}>
        By and by ({pace}), the cheapest first: all are free to leave within {age(endsInMs)}, asked were{" "}
        {age(deadlineInMs)}.{" "}
        {wantedMs === null
          ? "Nobody else has spare prefill, as far as reports say."
          : `The others' spare prefill would need ${age(wantedMs)}.`}
        {isHurried && " That is longer: turns will wait."}
      </p>
      {quarters.length > 0 && (
        <DataTable
          caption="When they are free to leave"
          keyOf={({ fraction }) => String(fraction)}
          rows={quarters}
          columns={[
            { title: "Conversations", isNumber: true, cell: ({ fraction }) => percent(fraction) },
            { title: "Within", isNumber: true, cell: ({ afterMs }) => age(afterMs) },
            { title: "Up to tokens", isNumber: true, cell: ({ upToTokens }) => count(upToTokens) },
          ]}
        />
      )}
    </>
  );
};
