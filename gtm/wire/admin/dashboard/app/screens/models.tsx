/** The models: which pools serve each, in which regions it is, how fast, and what others would need. */
import type { ModelView } from "#gtm/wire/admin/model-view.ts";
import { Chip, type Tone } from "../chip.tsx";
import { Command } from "../command.tsx";
import { DataTable } from "../data-table.tsx";
import { hrefOf, type Place } from "../place.ts";
import { age, count, gigabytes, milliseconds } from "../quantity.ts";
import { Empty, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";

const POLL_MS = 2_000;
const TONES: Readonly<Record<string, Tone>> = {
  loaded: "good",
  loading: "warn",
  asleep: "quiet",
  "on-disk": "quiet",
  down: "bad",
  "not-placed": "quiet",
};
/** Below it a rate is a guess. */
const LOW_CONFIDENCE = 0.25;

export const ModelsScreen = ({ place }: { readonly place: Place }) => {
  const models = useApi<{ readonly items: readonly ModelView[] }>("/models", POLL_MS);
  const id = place.subject;
  return (
    <>
      <h2>{id === "" ? "Models" : `Model ${id}`}</h2>
      {id !== "" && (
        <p>
          <a href={hrefOf("models")}>All models</a>
        </p>
      )}
      <WithState known={models} what="list of models">
        {({ items }) => (id === "" ? <All items={items} /> : <One model={items.find((one) => one.id === id)} />)}
      </WithState>
      <Command words={id === "" ? ["models"] : ["models", id]} />
    </>
  );
};

const servedTone = ({ isServed, pools }: ModelView): Tone => {
  if (isServed) return "good";
  return pools.length > 0 ? "bad" : "quiet";
};

const All = ({ items }: { readonly items: readonly ModelView[] }) => {
  if (items.length === 0) return <Empty>No model is configured, and no region reports any.</Empty>;
  const unserved = items.filter(({ isServed, pools }) => !isServed && pools.length > 0);
  return (
    <>
      {unserved.length > 0 && (
        <ul class="findings" aria-label="Models that nobody serves">
          {unserved.map(({ id, because }) => (
            <li key={id} class="box bad">
              <a href={hrefOf("models", id)}>{id}</a>: {because}
            </li>
          ))}
        </ul>
      )}
      <DataTable
        caption="Models"
        rows={items}
        keyOf={({ id }) => id}
        columns={[
          { title: "Model", cell: ({ id }) => <a href={hrefOf("models", id)}>{id}</a> },
          { title: "Also called", cell: ({ aliases }) => aliases.join(", ") || "–" },
          { title: "Configured", cell: ({ isConfigured }) => (isConfigured ? "yes" : "only reported") },
          { title: "Pools", cell: ({ pools }) => pools.map(({ name }) => name).join(", ") || "none" },
          { title: "Regions", cell: ({ regions }) => statesOf(regions) },
          {
            title: "KV tokens",
            isNumber: true,
            cell: ({ regions }) => count(sumOf(regions.map((one) => one.kvCapacityTokens))),
          },
          { title: "Held", isNumber: true, cell: ({ regions }) => count(sumOf(regions.map((one) => one.liveTokens))) },
          { title: "Weights", isNumber: true, cell: ({ weightBytes }) => gigabytes(weightBytes) },
          { title: "Cold start", isNumber: true, cell: ({ coldStartMs }) => milliseconds(coldStartMs) },
          {
            title: "Served",
            cell: (one) => (
              <div class="sentence">
                <Chip tone={servedTone(one)}>{one.isServed ? "yes" : "no"}</Chip> {one.because}
              </div>
            ),
          },
        ]}
      />
    </>
  );
};

const statesOf = (regions: ModelView["regions"]): string =>
  [...Map.groupBy(regions, ({ state }) => state)].map(([state, ones]) => `${state} in ${ones.length}`).join(", ") ||
  "none";

const sumOf = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
};

const One = ({ model }: { readonly model: ModelView | undefined }) => {
  if (model === undefined) return <Empty>No model of this name is configured, and no region reports it.</Empty>;
  return (
    <>
      <p>
        <Chip tone={servedTone(model)}>{model.isServed ? "served" : "not served"}</Chip> {model.because} Weights{" "}
        {gigabytes(model.weightBytes)}, cold start {milliseconds(model.coldStartMs)}; also called{" "}
        {model.aliases.join(", ") || "nothing else"}.
      </p>
      <p>
        {model.pools.length === 0
          ? "No pool serves it."
          : model.pools.map(({ name, region }) => (
              <span key={name}>
                A new conversation of {name} goes{" "}
                {region === null ? "nowhere" : <a href={hrefOf("regions", region)}>to {region}</a>}.{" "}
              </span>
            ))}
      </p>
      <DataTable
        caption="Regions"
        rows={model.regions}
        keyOf={({ region }) => region}
        columns={[
          { title: "Region", cell: ({ region }) => <a href={hrefOf("regions", region)}>{region}</a> },
          { title: "State", cell: ({ state }) => <Chip tone={TONES[state] ?? "quiet"}>{state}</Chip> },
          { title: "Takes new", cell: ({ takesNew }) => (takesNew ? "yes" : "no") },
          { title: "Replicas", isNumber: true, cell: ({ replicas }) => count(replicas) },
          { title: "KV tokens", isNumber: true, cell: ({ kvCapacityTokens }) => count(kvCapacityTokens) },
          { title: "In use", isNumber: true, cell: ({ kvPinnedTokens }) => count(kvPinnedTokens) },
          { title: "Held", isNumber: true, cell: ({ liveTokens }) => count(liveTokens) },
          { title: "Prefill tokens/s", cell: ({ prefill }) => <Prefill prefill={prefill} /> },
          { title: "Cold start", isNumber: true, cell: ({ coldStartMs }) => milliseconds(coldStartMs) },
          { title: "GPU free", isNumber: true, cell: ({ gpuMemoryFreeBytes }) => gigabytes(gpuMemoryFreeBytes) },
          {
            title: "Report",
            isNumber: true,
            cell: ({ reportAgeMs }) => (reportAgeMs === null ? "never" : `${age(reportAgeMs)} old`),
          },
          {
            title: "What it would need",
            cell: ({ needs }) => <div class="sentence">{needs ?? "nothing: loaded"}</div>,
          },
        ]}
      />
    </>
  );
};

const Prefill = ({ prefill }: Pick<ModelView["regions"][number], "prefill">) => {
  if (prefill === null) return <>–</>;
  const { tokensPerSecond, source, confidence, ageMs } = prefill;
  return (
    <>
      {count(tokensPerSecond)}{" "}
      <small>
        {source}
        {ageMs !== null && confidence < LOW_CONFIDENCE && ", a guess"}
        {ageMs !== null && `, ${age(ageMs)} old`}
      </small>
    </>
  );
};
