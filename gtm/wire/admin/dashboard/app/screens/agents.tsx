/** The edge agents: who reports which region, which engines each reads, and what mends what is wrong. */
import type { AgentView } from "#gtm/wire/admin/agent-view.ts";
import type { Agents } from "#gtm/wire/admin/routes/agents.ts";
import { Chip, type Tone } from "../chip.tsx";
import { Command } from "../command.tsx";
import { DataTable } from "../data-table.tsx";
import { FaultList } from "../fault-list.tsx";
import { hrefOf, type Place } from "../place.ts";
import { age, count } from "../quantity.ts";
import { Empty, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";

const POLL_MS = 2_000;
const TONES: Readonly<Record<string, Tone>> = { reporting: "good", stale: "warn", silent: "bad", refused: "bad" };

export const AgentsScreen = ({ place }: { readonly place: Place }) => {
  const region = place.filters.get("region") ?? "";
  const agents = useApi<Agents>(
    `/agents?limit=500${region === "" ? "" : `&region=${encodeURIComponent(region)}`}`,
    POLL_MS,
  );
  return (
    <>
      <h2>Agents{region !== "" && ` of ${region}`}</h2>
      {region !== "" && (
        <p>
          <a href={hrefOf("agents")}>Agents of all regions</a>
        </p>
      )}
      <WithState known={agents} what="list of agents">
        {(body) => <Told agents={body} />}
      </WithState>
      <Command words={region === "" ? ["agents"] : ["agents", "--region", region]} />
    </>
  );
};

const Told = ({ agents: { items, unreported, next_cursor } }: { readonly agents: Agents }) => {
  const faults = [...unreported, ...items.flatMap((one) => one.faults)];
  return (
    <>
      {items.length > 0 && faults.length === 0 && (
        <p class="box good" role="status">
          Nothing is wrong: {count(items.length)} {items.length === 1 ? "agent reports" : "agents report"}.
        </p>
      )}
      {faults.length > 0 && <FaultList faults={faults} label="What is wrong with agents" />}
      {items.length === 0 ? <Empty>No agent was heard of.</Empty> : <AgentTable items={items} />}
      {next_cursor !== null && <p class="box stale">There are more than 500 agents: the command line pages.</p>}
      {items.some(({ engines }) => engines.length > 0) && <EngineTable items={items} />}
    </>
  );
};

const AgentTable = ({ items }: { readonly items: readonly AgentView[] }) => (
  <DataTable
    caption="Agents"
    rows={items}
    keyOf={({ region, agent }) => `${region}/${agent}`}
    columns={[
      { title: "Region", cell: ({ region }) => <a href={hrefOf("regions", region)}>{region}</a> },
      { title: "Agent", cell: ({ agent }) => (agent === "" ? "(all of them)" : agent) },
      { title: "State", cell: ({ state }) => <Chip tone={TONES[state] ?? "quiet"}>{state}</Chip> },
      {
        title: "Report",
        isNumber: true,
        cell: ({ reportAgeMs }) => (reportAgeMs === null ? "never" : `${age(reportAgeMs)} old`),
      },
      { title: "Every", isNumber: true, cell: ({ intervalMs }) => age(intervalMs) },
      { title: "Heard", isNumber: true, cell: ({ heardReports }) => count(heardReports) },
      { title: "Missed", isNumber: true, cell: ({ missedReports }) => count(missedReports) },
      { title: "Refused", cell: ({ refused }) => <Refused refused={refused} /> },
      { title: "Restarts", isNumber: true, cell: ({ restarts }) => count(restarts) },
      {
        title: "Clock",
        isNumber: true,
        cell: ({ clockAheadMs }) =>
          clockAheadMs === null ? "–" : `${age(Math.abs(clockAheadMs))} ${clockAheadMs < 0 ? "behind" : "ahead"}`,
      },
      { title: "Version", cell: ({ version }) => version ?? "not told" },
      { title: "Signature", cell: ({ signature }) => <Signature signature={signature} /> },
    ]}
  />
);

const Refused = ({ refused }: Pick<AgentView, "refused">) => {
  if (refused === null) return <>none</>;
  return (
    <>
      {count(refused.count)} × {refused.reason} <small>{refused.isStanding ? "still" : "believed again"}</small>
    </>
  );
};

const Signature = ({ signature }: Pick<AgentView, "signature">) => {
  if (signature === null) return <>–</>;
  return <Chip tone={signature === "verified" ? "good" : "warn"}>{signature}</Chip>;
};

const EngineTable = ({ items }: { readonly items: readonly AgentView[] }) => (
  <DataTable
    caption="Engines that they read"
    rows={items.flatMap(({ region, agent, engines, otherFaults }) => [
      ...engines.map((engine) => ({ region, agent, ...engine })),
      ...(otherFaults.length === 0
        ? []
        : [{ region, agent, address: "(others)", engine: null, models: [], faults: otherFaults }]),
    ])}
    keyOf={({ region, agent, address }) => `${region}/${agent}/${address}`}
    columns={[
      { title: "Region", cell: ({ region }) => region },
      { title: "Agent", cell: ({ agent }) => agent },
      { title: "Engine at", cell: ({ address }) => address },
      { title: "Kind", cell: ({ address, engine }) => engine ?? (address === "(others)" ? "" : "not known") },
      { title: "Models", cell: ({ models }) => models.join(", ") },
      {
        title: "Not known, and why",
        cell: ({ faults }) =>
          faults.length === 0 ? (
            <span class="quiet">all is known</span>
          ) : (
            <div class="sentence">
              {faults.map(({ source, field, code }) => `${field}: ${code} (${source})`).join("; ")}
            </div>
          ),
      },
    ]}
  />
);
