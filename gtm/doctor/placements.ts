/** Whether what is configured meets: models that some region has, regions that some pool uses. Pure. */
import type { Model } from "#gtm/domain/model.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { RegionId } from "#shared/ids.ts";
import type { ModelReport } from "#shared/report.ts";
import type { RegionAgents } from "./agent-facts.ts";
import { type Finding, listed, ok, problem, unknown, warning } from "./finding.ts";

export type PlacementInputs = {
  readonly models: readonly Model[];
  readonly pools: readonly Pool[];
  readonly regions: readonly RegionId[];
  /** A sentence's end: why they are not known. */
  readonly agents: readonly RegionAgents[] | string;
};

export const placementFindings = (inputs: PlacementInputs): readonly Finding[] => [
  ...unusedRegions(inputs),
  ...(typeof inputs.agents === "string"
    ? [unknown("models", `Which regions have which models is not known: ${inputs.agents}.`)]
    : placedFindings(inputs, inputs.agents)),
];

/** Where nobody reports, that is what has to be mended. */
const placedFindings = (inputs: PlacementInputs, agents: readonly RegionAgents[]): readonly Finding[] =>
  agents.some((region) => region.agents.some(({ found }) => found?.check.kind === "accepted"))
    ? modelFindings(inputs, placesOf(inputs.models, agents))
    : [unknown("models", "Which regions have which models is not known: no report is believed.")];

const unusedRegions = ({ pools, regions }: PlacementInputs): readonly Finding[] =>
  regions
    .filter((region) => pools.every((pool) => !pool.regions.includes(region)))
    .map((region) =>
      warning(
        "region-unused",
        `${region} is in no pool: nothing is ever sent there.`,
        `Add ${region} to \`regions\` of a pool, or take it out of the configuration.`,
      ),
    );

type Places = ReadonlyMap<Model, readonly RegionId[]>;

const placesOf = (models: readonly Model[], agents: readonly RegionAgents[]): Places =>
  new Map(models.map((model) => [model, agents.filter((one) => hasModel(one, model)).map(({ region }) => region)]));

const hasModel = ({ agents }: RegionAgents, model: Model): boolean =>
  agents.some(
    ({ found }) => found?.check.kind === "accepted" && found.check.report.models.some((one) => isOf(one, model)),
  );

const isOf = (report: ModelReport, { id, aliases }: Model): boolean => {
  if (report.state === "down") return false;
  const names: readonly string[] = [report.model, ...report.aliases, ...report.adapters];
  return [id, ...aliases].some((name) => names.includes(name));
};

const modelFindings = ({ models, pools }: PlacementInputs, places: Places): readonly Finding[] => {
  const findings: Finding[] = [];
  for (const model of models) {
    const regions = places.get(model) ?? [];
    const using = pools.filter((pool) => pool.models.includes(model.id));
    const empty = using.filter((pool) => !regions.some((region) => pool.regions.includes(region)));
    if (empty.length === 0) {
      findings.push(ok("models", `${model.id} is in ${listed(regions)}.`));
      continue;
    }
    const where =
      regions.length === 0 ? "No region has" : `Only ${listed(regions)} ${regions.length === 1 ? "has" : "have"}`;
    findings.push(
      problem(
        "model-unplaced",
        `${where} ${model.id}: ${empty.length === 1 ? "pool" : "pools"} ${listed(empty.map(({ name }) => name))} cannot serve it.`,
        "Load it there, or put the name that the engines use into `models[].aliases`; `edge-agent scrape --once` shows that name.",
      ),
    );
  }
  return findings;
};
