/** Is anything wrong, where, since when, and what did it do to users: answered without a click. */

import type { RegionView } from "#gtm/wire/admin/region-view.ts";
import type { RecentView } from "#gtm/wire/admin/routes/recent.ts";
import type { Status } from "#gtm/wire/admin/routes/status.ts";
import { Chart } from "../chart.tsx";
import { AdminChip, HealthChip } from "../chip.tsx";
import { DataTable } from "../data-table.tsx";
import { Findings } from "../findings-list.tsx";
import { hrefOf } from "../place.ts";
import { age, clockTime, count, milliseconds, percent } from "../quantity.ts";
import { type RegionRow, regionRows } from "../region-rows.ts";
import { Empty, WithState } from "../state-box.tsx";
import { type Known, useApi } from "../use-api.ts";
import { WorldMap } from "../world-map.tsx";

type Regions = { readonly items: readonly RegionView[] };

const POLL_MS = 2_000;
const MOST_AREAS = 15;
const MOST_CHANGES = 12;
const VERDICTS: readonly (readonly [kind: string, colour: string])[] = [
  ["pinned", "#2b7bba"],
  ["placed", "#3f9c6b"],
  ["migrated", "#c98a00"],
  ["displaced", "#c05a2e"],
  ["unserved", "#c22f3d"],
];

export const OverviewScreen = ({ status }: { readonly status: Known<Status> }) => {
  const regions = useApi<Regions>("/regions", POLL_MS);
  const recent = useApi<RecentView>("/recent", POLL_MS);
  return (
    <>
      <h2>Overview</h2>
      <WithState known={status} what="state of this GTM">
        {(body) => <Findings status={body} recent={recent.body} />}
      </WithState>
      <WithState known={regions} what="list of regions">
        {({ items }) => <RegionTable rows={regionRows(items, recent.body)} />}
      </WithState>
      <WithState known={recent} what="last quarter of an hour">
        {(body) => <LastQuarter recent={body} regions={regions.body?.items ?? []} />}
      </WithState>
    </>
  );
};

const RegionTable = ({ rows }: { readonly rows: readonly RegionRow[] }) => (
  <DataTable
    caption="Regions"
    rows={rows}
    keyOf={({ region }) => region.id}
    columns={[
      { title: "Region", cell: ({ region }) => <a href={hrefOf("regions", region.id)}>{region.id}</a> },
      {
        title: "Health",
        cell: ({ region, healthForMs }) => (
          <>
            <HealthChip health={region.health} /> <small>for {age(healthForMs)}</small>
          </>
        ),
      },
      {
        title: "Ordered",
        cell: ({ region, adminForMs }) => (
          <>
            <AdminChip admin={region.admin} /> <small>for {age(adminForMs)}</small>
          </>
        ),
      },
      {
        title: "Report",
        isNumber: true,
        cell: ({ region }) => (region.reportAgeMs === null ? "never" : `${age(region.reportAgeMs)} old`),
      },
      { title: "Queue", isNumber: true, cell: ({ backlogMs }) => milliseconds(backlogMs) },
      { title: "KV used", isNumber: true, cell: ({ kvUsedFraction }) => percent(kvUsedFraction) },
      { title: "Hits", isNumber: true, cell: ({ hitFraction }) => percent(hitFraction) },
      { title: "Running", isNumber: true, cell: ({ running }) => count(running) },
      { title: "Waiting", isNumber: true, cell: ({ waiting }) => count(waiting) },
      { title: "Turns, 15 min", isNumber: true, cell: ({ turns }) => count(turns) },
      {
        title: "Over 3 s",
        isNumber: true,
        cell: ({ turns, overThreeSeconds }) =>
          turns === 0 ? "–" : `${count(overThreeSeconds)} (${percent(overThreeSeconds / turns)})`,
      },
      { title: "What follows", cell: ({ region }) => <div class="sentence">{region.because}</div> },
    ]}
  />
);

type QuarterWish = { readonly recent: RecentView; readonly regions: readonly RegionView[] };

const LastQuarter = ({ recent, regions }: QuarterWish) => {
  const { buckets, bucketMs, areas, changes } = recent;
  // The last one is not over yet: its rate would seem to fall.
  const whole = buckets.slice(0, -1);
  const seconds = whole.map(({ at }) => Date.parse(at) / 1_000);
  const perSecond = bucketMs / 1_000;
  const sumOf = (turns: RecentView["buckets"][number]["turns"], pick: "turns" | "overThreeSeconds" | "failed") =>
    turns.reduce((sum, one) => sum + one[pick], 0);
  return (
    <>
      <div class="charts">
        <Chart
          title="Decisions per second, by verdict (this instance)"
          seconds={seconds}
          lines={VERDICTS.map(([title, colour]) => ({
            title,
            colour,
            values: whole.map(({ verdicts }) => (verdicts[title] ?? 0) / perSecond),
          }))}
        />
        <Chart
          title="Turns in ten seconds, as gateways measured"
          seconds={seconds}
          lines={[
            { title: "all", colour: "#2b7bba", values: whole.map(({ turns }) => sumOf(turns, "turns")) },
            {
              title: "over 3 s",
              colour: "#c98a00",
              values: whole.map(({ turns }) => sumOf(turns, "overThreeSeconds")),
            },
            { title: "failed", colour: "#c22f3d", values: whole.map(({ turns }) => sumOf(turns, "failed")) },
          ]}
        />
      </div>
      <div class="charts">
        <WorldMap regions={regions} />
        <section>
          <AreaMatrix areas={areas} />
          <h3>What changed</h3>
          {changes.length === 0 ? (
            <Empty>No region changed since this instance began to look.</Empty>
          ) : (
            <ol class="events">
              {changes.slice(0, MOST_CHANGES).map((one) => (
                <li key={`${one.at}${one.region}`}>
                  <time dateTime={one.at}>{clockTime(one.at)}</time>{" "}
                  <a href={hrefOf("regions", one.region)}>{one.region}</a>{" "}
                  {one.changes.map(({ field, from, to }) => `${field}: ${from ?? "none"} → ${to ?? "none"}`).join(", ")}
                </li>
              ))}
            </ol>
          )}
        </section>
      </div>
    </>
  );
};

const AreaMatrix = ({ areas }: { readonly areas: RecentView["areas"] }) => {
  const regions = [...new Set(areas.map(({ region }) => region ?? "(none)"))].sort();
  const totals = new Map<string, number>();
  for (const { area, count: times } of areas) totals.set(area, (totals.get(area) ?? 0) + times);
  const rows = [...totals].sort((a, b) => b[1] - a[1]).slice(0, MOST_AREAS);
  if (rows.length === 0) return <Empty>Nobody asked within the last quarter of an hour.</Empty>;
  const timesOf = (area: string, region: string): number =>
    areas.find((one) => one.area === area && (one.region ?? "(none)") === region)?.count ?? 0;
  return (
    <DataTable
      caption="Where clients are sent, most asked first"
      rows={rows}
      keyOf={([area]) => area}
      columns={[
        { title: "Clients in", cell: ([area]) => area },
        ...regions.map((region) => ({
          title: region,
          isNumber: true,
          cell: ([area, total]: readonly [string, number]) => {
            const times = timesOf(area, region);
            return times === 0 ? "" : percent(times / total);
          },
        })),
        { title: "Decisions", isNumber: true, cell: ([, total]) => count(total) },
      ]}
    />
  );
};
