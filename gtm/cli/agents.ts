/** `gtm agents`: who reports which region, which engines each reads, and what mends what is wrong. */
import type { Command } from "commander";
import type { AgentView } from "#gtm/wire/admin/agent-view.ts";
import { Agents } from "#gtm/wire/admin/routes/agents.ts";
import { apiCommand, invocationOf, printOne, tellMore } from "./api-command.ts";
import type { Cell, Colour } from "./cell.ts";
import { aLimit } from "./decisions.ts";
import type { Look } from "./fitted.ts";
import type { CliIo } from "./io.ts";
import { age, UNKNOWN } from "./quantity.ts";
import { coloured, table } from "./table.ts";

export const agentsCommand = (io: CliIo): Command =>
  apiCommand("agents", "list edge agents: report ages, versions, engines and faults, each with what mends it", [
    "agents",
    "agents --region eu-central",
    "agents -o json",
  ])
    .option("--region <region>", "only this region's, with every engine that they read")
    .option("--limit <n>", "how many, at most 500", aLimit, 500)
    .option("--cursor <cursor>", "go on where a page ended")
    .action(async (options: { region?: string; limit: number; cursor?: string }, command: Command) => {
      const invocation = invocationOf(command, io);
      const { region, limit, cursor } = options;
      const query = { region, limit: String(limit), cursor };
      const { body } = await invocation.client.call({ method: "GET", path: "/agents", query });
      if (invocation.format === "jsonl") {
        io.print(
          Agents.parse(body)
            .items.map((one) => `${JSON.stringify(one)}\n`)
            .join(""),
        );
        return;
      }
      printOne(invocation, body, Agents, (agents) => agentsText(agents, region !== undefined, invocation.look));
      if (invocation.format === "table") tellMore(invocation, body);
    });

export const agentsText = ({ items, unreported }: Agents, hasEngines: boolean, look: Look): string => {
  const { isColourful } = look;
  const faults = [...unreported, ...items.flatMap((one) => one.faults)];
  const parts = [
    items.length === 0 ? "No agent was heard of.\n" : agentTable(items, look),
    hasEngines && items.some(({ engines }) => engines.length > 0) ? engineTable(items, isColourful) : "",
    faults.map((fault) => faultText(fault, isColourful)).join(""),
  ];
  return parts.filter((part) => part !== "").join("\n");
};

const STATE_COLOURS: Readonly<Record<string, Colour>> = {
  reporting: "green",
  stale: "yellow",
  silent: "red",
  refused: "red",
};

const agentTable = (items: readonly AgentView[], look: Look): string =>
  table(
    [
      { header: "REGION" },
      { header: "AGENT", canShorten: true },
      { header: "STATE" },
      { header: "REPORT AGE", align: "right" },
      { header: "EVERY", align: "right", leave: 1 },
      { header: "MISSED", align: "right", leave: 4 },
      { header: "REFUSED", align: "right", leave: 6 },
      { header: "CLOCK", align: "right", leave: 5 },
      { header: "VERSION", leave: 3 },
      { header: "SIGNATURE", leave: 2 },
      { header: "ENGINES", canShorten: true },
    ],
    items.map((one) => [
      one.region,
      one.agent === "" ? "(all)" : one.agent,
      stateCell(one.state),
      one.reportAgeMs === null ? "never" : age(one.reportAgeMs),
      age(one.intervalMs),
      String(one.missedReports),
      one.refused === null ? "0" : String(one.refused.count),
      one.clockAheadMs === null ? UNKNOWN : clockText(one.clockAheadMs),
      one.version ?? UNKNOWN,
      one.signature ?? UNKNOWN,
      enginesText(one),
    ]),
    look,
  );

const stateCell = (text: string): Cell => {
  const colour = STATE_COLOURS[text];
  return colour === undefined ? text : { text, colour };
};

/** "+0.0 s", "-90 s": of its clock before the GTM's. */
const clockText = (aheadMs: number): string => `${aheadMs < 0 ? "-" : "+"}${age(Math.abs(aheadMs))}`;

/** "vllm 4, unknown 1; 2 faults" */
const enginesText = ({ engines, otherFaults }: AgentView): string => {
  const kinds = [...Map.groupBy(engines, ({ engine }) => engine ?? "unknown")];
  const faults = otherFaults.length + engines.reduce((sum, one) => sum + one.faults.length, 0);
  const counts = kinds.map(([kind, ones]) => `${kind} ${ones.length}`).join(", ");
  if (faults === 0) return counts === "" ? "none" : counts;
  return `${counts === "" ? "none" : counts}; ${faults} ${faults === 1 ? "fault" : "faults"}`;
};

const engineTable = (items: readonly AgentView[], isColourful: boolean): string =>
  table(
    [{ header: "ENGINE AT" }, { header: "KIND" }, { header: "MODELS" }, { header: "NOT KNOWN, AND WHY" }],
    items.flatMap(({ engines, otherFaults }) => [
      ...engines.map(({ address, engine, models, faults }) => [
        address,
        engine ?? "unknown",
        models.join(", "),
        faultsText(faults),
      ]),
      ...(otherFaults.length === 0 ? [] : [["(others)", "", "", faultsText(otherFaults, true)]]),
    ]),
    isColourful,
  );

const faultsText = (faults: AgentView["otherFaults"], hasSource = false): string =>
  faults.map(({ source, field, code }) => `${hasSource ? `${source} ` : ""}${field} ${code}`).join(", ");

const faultText = ({ severity, what, remedy }: AgentView["faults"][number], isColourful: boolean): string =>
  `${coloured(severity, severity === "problem" ? "red" : "yellow", isColourful)}  ${what}\n  → ${remedy}\n`;
