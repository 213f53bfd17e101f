/** One region: how it is, what is placed there, what was ordered, and how to order something else. */
import type { RegionView } from "#gtm/wire/admin/region-view.ts";
import { instant } from "../../../quantity-text.ts";
import { CacheTiers } from "../cache-tiers.tsx";
import { AdminChip, HealthChip } from "../chip.tsx";
import { Command } from "../command.tsx";
import { DataTable } from "../data-table.tsx";
import { OrderForm } from "../order-form.tsx";
import { hrefOf } from "../place.ts";
import { age, count, gigabytes, milliseconds, percent } from "../quantity.ts";
import { RegionEvents } from "../region-events.tsx";
import { Empty, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";

const POLL_MS = 2_000;

export const RegionScreen = ({ id }: { readonly id: string }) => {
  const region = useApi<RegionView>(`/regions/${encodeURIComponent(id)}`, POLL_MS);
  return (
    <>
      <h2>Region {id}</h2>
      <WithState known={region} what="region">
        {(body) => (
          <>
            <p>
              <HealthChip health={body.health} /> <AdminChip admin={body.admin} /> {body.because} Report{" "}
              {body.reportAgeMs === null ? "never heard" : `${age(body.reportAgeMs)} old`}
              {body.isPartial && "; an agent is missing, so counts are lower bounds"}.
            </p>
            {body.order !== null && (
              <p class="box warn">
                {body.order.admin} ordered by {body.order.actor} at {instant(body.order.orderedAt)}:{" "}
                {body.order.comment}.{" "}
                {body.order.expiresInMs === null
                  ? "Stands until taken back."
                  : `Ends in ${age(body.order.expiresInMs)}.`}{" "}
                {body.order.operation !== null && (
                  <a href={hrefOf("operations", body.order.operation)}>How far it is</a>
                )}
              </p>
            )}
            <Placed region={body} />
            <CacheTiers placements={body.placements} />
            <p>
              GPU memory {gigabytes(body.gpuMemoryBytes)}, free {gigabytes(body.gpuMemoryFreeBytes)}. Clients go to{" "}
              {body.endpoint.url}. <a href={hrefOf("conversations", "", { region: id })}>Conversations at home here</a>{" "}
              · <a href={hrefOf("decisions", "", { region: id })}>decisions that chose it</a> ·{" "}
              <a href={hrefOf("agents", "", { region: id })}>its agents</a>
            </p>
            <OrderForm region={body} onDone={region.again} />
            <Command words={["regions", id]} />
            <RegionEvents id={id} />
          </>
        )}
      </WithState>
    </>
  );
};

const Placed = ({ region }: { readonly region: RegionView }) => {
  if (region.placements.length === 0) return <Empty>No model is placed here, as far as reports say.</Empty>;
  const replicas = region.placements.flatMap(({ model, replicas: list }) =>
    list.map((replica) => ({ model, ...replica })),
  );
  return (
    <>
      <DataTable
        caption="Models"
        rows={region.placements}
        keyOf={({ model }) => model}
        columns={[
          { title: "Model", cell: ({ model }) => model },
          { title: "State", cell: ({ state }) => state },
          {
            title: "Queue",
            isNumber: true,
            cell: ({ averageBacklogMs, isBacklogKnown }) =>
              isBacklogKnown ? milliseconds(averageBacklogMs) : "not known",
          },
          { title: "Running", isNumber: true, cell: ({ requestsRunning }) => count(requestsRunning) },
          { title: "Waiting", isNumber: true, cell: ({ requestsWaiting }) => count(requestsWaiting) },
          { title: "KV used", isNumber: true, cell: ({ kvCacheUsedFraction }) => percent(kvCacheUsedFraction) },
          { title: "KV tokens", isNumber: true, cell: ({ kvCapacityTokens }) => count(kvCapacityTokens) },
          { title: "Hits", isNumber: true, cell: ({ prefixHitFraction }) => percent(prefixHitFraction) },
          {
            title: "Prefill tokens/s",
            isNumber: true,
            cell: ({ prefillTokensPerSecond }) => count(prefillTokensPerSecond),
          },
          { title: "First token p50", isNumber: true, cell: ({ ttftP50Ms }) => milliseconds(ttftP50Ms) },
        ]}
      />
      <DataTable
        caption="Replicas"
        rows={replicas}
        keyOf={({ id, model }) => id + model}
        columns={[
          { title: "Replica", cell: ({ id }) => id },
          { title: "Model", cell: ({ model }) => model },
          { title: "Queue", isNumber: true, cell: ({ backlogMs }) => milliseconds(backlogMs) },
          { title: "KV tokens", isNumber: true, cell: ({ kvCapacityTokens }) => count(kvCapacityTokens) },
          { title: "In use", isNumber: true, cell: ({ kvPinnedTokens }) => count(kvPinnedTokens) },
        ]}
      />
    </>
  );
};
