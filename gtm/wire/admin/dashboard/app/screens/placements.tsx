/** Models by region: where each is loaded, and how busy it is there. */
import type { PlacementView } from "#gtm/wire/admin/placement-view.ts";
import { CacheTiers } from "../cache-tiers.tsx";
import { Chip, type Tone } from "../chip.tsx";
import { Command } from "../command.tsx";
import { DataTable } from "../data-table.tsx";
import { hrefOf } from "../place.ts";
import { milliseconds, percent } from "../quantity.ts";
import { Empty, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";

const POLL_MS = 2_000;
const TONES: Readonly<Record<string, Tone>> = {
  loaded: "good",
  loading: "warn",
  asleep: "quiet",
  "on-disk": "quiet",
  down: "bad",
};

export const PlacementsScreen = () => {
  const placements = useApi<{ readonly items: readonly PlacementView[] }>("/placements", POLL_MS);
  return (
    <>
      <h2>Placements</h2>
      <WithState known={placements} what="list of placements">
        {({ items }) => (
          <>
            {items.length === 0 ? <Empty>No region reports any model.</Empty> : <Matrix items={items} />}
            <CacheTiers placements={items} />
          </>
        )}
      </WithState>
      <Command words={["placements"]} />
    </>
  );
};

const Matrix = ({ items }: { readonly items: readonly PlacementView[] }) => {
  const regions = [...new Set(items.map(({ region }) => region))];
  const models = [...new Set(items.map(({ model }) => model))].sort();
  return (
    <DataTable
      caption="Models by region"
      rows={models}
      keyOf={(model) => model}
      columns={[
        { title: "Model", cell: (model) => <a href={hrefOf("models", model)}>{model}</a> },
        ...regions.map((region) => ({
          title: region,
          cell: (model: string) => {
            const placed = items.find((one) => one.region === region && one.model === model);
            return placed === undefined ? <span class="quiet">not placed</span> : <Placed placed={placed} />;
          },
        })),
      ]}
    />
  );
};

const Placed = ({ placed }: { readonly placed: PlacementView }) => (
  <a href={hrefOf("regions", placed.region)}>
    <Chip tone={TONES[placed.state] ?? "quiet"}>{placed.state}</Chip>{" "}
    <small>
      {placed.replicas.length} replicas, queue {milliseconds(placed.averageBacklogMs)}, KV{" "}
      {percent(placed.kvCacheUsedFraction)}
    </small>
  </a>
);
