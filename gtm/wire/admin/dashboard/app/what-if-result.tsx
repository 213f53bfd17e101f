/** Both sides of a "what if": where turns go, what they wait, what is computed again. */
import type { WhatIfAnswer } from "#gtm/wire/admin/what-if.ts";
import { DataTable } from "./data-table.tsx";
import { age, count, milliseconds } from "./quantity.ts";
import { Empty } from "./state-box.tsx";

type Side = WhatIfAnswer["before"];

const NUMBERS: readonly (readonly [what: string, of: (side: Side) => string])[] = [
  ["First token, mean", ({ predictedTtftMeanMs }) => milliseconds(predictedTtftMeanMs)],
  ["First token, 95th percentile", ({ predictedTtftP95Ms }) => milliseconds(predictedTtftP95Ms)],
  ["Turns over 3 s", ({ overThreeSeconds }) => count(overThreeSeconds)],
  ["Tokens computed again", ({ recomputeTokens }) => count(recomputeTokens)],
];

export const WhatIfResult = ({ answer }: { readonly answer: WhatIfAnswer }) => {
  const { decisions, oldestMs, before, after, moved } = answer;
  if (decisions === 0) return <Empty>This instance remembers no turn.</Empty>;
  const regions = [...new Set([...before.regions, ...after.regions].map(({ region }) => region))];
  const timesIn = (side: Side, region: string | null): string =>
    count(side.regions.find((one) => one.region === region)?.decisions ?? 0);
  const elsewhere = moved.reduce((sum, one) => sum + one.decisions, 0);
  return (
    <section role="status">
      <h3>
        {count(elsewhere)} of {count(decisions)} turns would go elsewhere
      </h3>
      <p class="quiet">Turns of the last {age(oldestMs)}, decided again as of now.</p>
      <DataTable
        caption="Where they go"
        rows={regions}
        keyOf={(region) => region ?? "-"}
        columns={[
          { title: "Region", cell: (region) => region ?? "(no region)" },
          { title: "As it is", isNumber: true, cell: (region) => timesIn(before, region) },
          { title: "Changed", isNumber: true, cell: (region) => timesIn(after, region) },
        ]}
      />
      <DataTable
        caption="What it does to users"
        rows={NUMBERS}
        keyOf={([what]) => what}
        columns={[
          { title: "What", cell: ([what]) => what },
          { title: "As it is", isNumber: true, cell: ([, of]) => of(before) },
          { title: "Changed", isNumber: true, cell: ([, of]) => of(after) },
        ]}
      />
      <p class="note">
        Queues are those of now: what the change itself would do to them, gtm simulate --from-decisions plays.
      </p>
    </section>
  );
};
