/** Second tiers of prefix caches, where agents report them. */
import type { PlacementView } from "#gtm/wire/admin/placement-view.ts";
import { DataTable } from "./data-table.tsx";
import { gigabytes, percent } from "./quantity.ts";

export const CacheTiers = ({ placements }: { readonly placements: readonly PlacementView[] }) => {
  const rows = placements.flatMap(({ region, model, cacheTiers }) =>
    cacheTiers.map((one) => ({ region, model, ...one })),
  );
  if (rows.length === 0) return null;
  return (
    <DataTable
      caption="Second tiers of the prefix cache"
      rows={rows}
      keyOf={({ region, model, tier, source }) => `${region} ${model} ${tier} ${source}`}
      columns={[
        { title: "Region", cell: ({ region }) => region },
        { title: "Model", cell: ({ model }) => model },
        { title: "Tier", cell: ({ tier }) => tier },
        { title: "Told by", cell: ({ source }) => source },
        { title: "Found there", isNumber: true, cell: ({ hitFraction }) => percent(hitFraction) },
        { title: "Since start", isNumber: true, cell: ({ hitFractionSinceStart: since }) => percent(since) },
        { title: "Used", isNumber: true, cell: ({ usedFraction }) => percent(usedFraction) },
        { title: "In memory", isNumber: true, cell: ({ memoryUsedBytes }) => gigabytes(memoryUsedBytes) },
        { title: "On disk", isNumber: true, cell: ({ storageUsedBytes }) => gigabytes(storageUsedBytes) },
        { title: "Remote", isNumber: true, cell: ({ remoteUsedBytes }) => gigabytes(remoteUsedBytes) },
      ]}
    />
  );
};
