/** The configuration: what stands and since when, what is wrong with the file, what waits for a restart, and who has another. */
import type { ConfigChangeView, ConfigFault, ConfigView } from "#gtm/wire/admin/config-view.ts";
import type { Instances } from "#gtm/wire/admin/routes/instances.ts";
import { Chip } from "../chip.tsx";
import { Command } from "../command.tsx";
import { DataTable } from "../data-table.tsx";
import { hrefOf } from "../place.ts";
import { age } from "../quantity.ts";
import { Empty, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";

const POLL_MS = 2_000;

export const ConfigurationScreen = ({ section }: { readonly section: string }) => {
  const config = useApi<ConfigView>("/config", POLL_MS);
  const instances = useApi<Instances>("/instances", POLL_MS);
  return (
    <>
      <h2>Configuration{section !== "" && `: ${section}`}</h2>
      <WithState known={config} what="configuration">
        {(body) => (section === "" ? <Standing config={body} /> : <Section config={body} name={section} />)}
      </WithState>
      {section === "" && (
        <WithState known={instances} what="list of GTMs">
          {(body) => <SideBySide instances={body} />}
        </WithState>
      )}
      {section === "" ? <Commands /> : <Command words={["config", "show", section]} />}
    </>
  );
};

const Standing = ({ config }: { readonly config: ConfigView }) => (
  <>
    {config.refused === null ? (
      <p class="box good" role="status">
        {config.source === null ? "This GTM was started without a file." : `${config.source} is in force.`}
      </p>
    ) : (
      <p class="box bad" role="alert">
        {config.source ?? "The file"} cannot be used since {age(config.refused.ageMs)}, noticed by {config.refused.by}.
        What stood before it stands.
      </p>
    )}
    <p>
      Taken {age(config.loadedAgeMs)} ago, version {config.version}, hash <code>{config.hash}</code>;{" "}
      {config.isWatched ? "a changed file is taken by itself." : "a changed file is taken when somebody says so."}
    </p>
    {config.refused !== null && <Faults faults={config.refused.faults} />}
    {config.pending.length > 0 && <Pending changes={config.pending} />}
    {config.sections.length === 0 ? <Empty>No section is known.</Empty> : <Sections config={config} />}
    {config.references.length > 0 && (
      <DataTable
        caption="What the environment says"
        rows={config.references}
        keyOf={({ at }) => at}
        columns={[
          { title: "Setting", cell: ({ at }) => <code>{at}</code> },
          { title: "In the file", cell: ({ from }) => <code>{from}</code> },
        ]}
      />
    )}
  </>
);

const Faults = ({ faults }: { readonly faults: readonly ConfigFault[] }) => (
  <DataTable
    caption="What is wrong with the file"
    rows={faults.map((fault, at) => ({ ...fault, key: at }))}
    keyOf={({ key }) => String(key)}
    columns={[
      { title: "Line", isNumber: true, cell: ({ line }) => line ?? "–" },
      { title: "At", cell: ({ at }) => (at === "" ? "the file" : <code>{at}</code>) },
      { title: "What is wrong", cell: ({ message }) => message },
    ]}
  />
);

const Pending = ({ changes }: { readonly changes: readonly ConfigChangeView[] }) => (
  <DataTable
    caption="Waits for a restart"
    rows={changes}
    keyOf={({ at }) => at}
    columns={[
      { title: "Setting", cell: ({ at }) => <code>{at}</code> },
      { title: "Running", cell: ({ running }) => <code>{textOf(running)}</code> },
      { title: "In the file", cell: ({ file }) => <code>{textOf(file)}</code> },
    ]}
  />
);

const Sections = ({ config }: { readonly config: ConfigView }) => (
  <DataTable
    caption="Sections"
    rows={config.sections}
    keyOf={({ name }) => name}
    columns={[
      { title: "Section", cell: ({ name }) => <a href={hrefOf("configuration", name)}>{name}</a> },
      { title: "Hash", cell: ({ hash }) => <code>{hash}</code> },
      {
        title: "Waits for a restart",
        cell: ({ name }) => {
          const waiting = config.pending.filter(({ section }) => section === name).length;
          return waiting === 0 ? "–" : <Chip tone="warn">{waiting}</Chip>;
        },
      },
    ]}
  />
);

const Section = ({ config, name }: { readonly config: ConfigView; readonly name: string }) => {
  const section = config.sections.find((one) => one.name === name);
  return (
    <>
      <p>
        <a href={hrefOf("configuration")}>All sections</a>
      </p>
      {section === undefined ? (
        <Empty>There is no section {name}.</Empty>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <section class="scroll" tabIndex={0} aria-label={`Settings of ${name}`}>
          <pre>{JSON.stringify(section.settings, null, 2)}</pre>
        </section>
      )}
    </>
  );
};

/** Every part that GTMs must have alike, with each one's hash. */
const SideBySide = ({ instances }: { readonly instances: Instances }) => {
  const all = [
    { instance: instances.instance, config: instances.config as Readonly<Record<string, string>> | null },
    ...instances.others.map(({ instance, config }) => ({ instance, config })),
  ];
  const parts = [...new Set(all.flatMap(({ config }) => Object.keys(config ?? {})))];
  return (
    <DataTable
      caption="GTMs on this store, part by part"
      rows={parts.map((part) => {
        const hashes = all.map(({ config }) => config?.[part] ?? "not told");
        return { part, hashes, isAlike: new Set(hashes).size === 1 };
      })}
      keyOf={({ part }) => part}
      columns={[
        { title: "Part", cell: ({ part }) => part },
        {
          title: "Alike",
          cell: ({ isAlike }) => <Chip tone={isAlike ? "good" : "bad"}>{isAlike ? "yes" : "no"}</Chip>,
        },
        ...all.map(({ instance }, at) => ({
          title: at === 0 ? `${instance} (this one)` : instance,
          cell: ({ hashes }: { readonly hashes: readonly string[] }) => <code>{hashes[at]}</code>,
        })),
      ]}
    />
  );
};

const Commands = () => (
  <>
    <h3>What another file would change, and to take it</h3>
    <Command words={["config", "diff", "--file", "gtm.yaml"]} />
    <Command words={["config", "reload", "--dry-run"]} />
    <Command words={["config", "reload"]} />
    <Command words={["config", "diff"]} />
  </>
);

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? null));
