/** The GTMs on this store: are they there, configured alike, and of one mind. */
import type { Instances } from "#gtm/wire/admin/routes/instances.ts";
import { Chip } from "../chip.tsx";
import { Command } from "../command.tsx";
import { DataTable } from "../data-table.tsx";
import { age } from "../quantity.ts";
import { Empty, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";

const POLL_MS = 2_000;

export const InstancesScreen = () => {
  const instances = useApi<Instances>("/instances", POLL_MS);
  return (
    <>
      <h2>Instances</h2>
      <WithState known={instances} what="list of instances">
        {({ instance, version, others }) => (
          <>
            <p>
              This one is {instance}, version {version}.
            </p>
            {others.length === 0 ? (
              <Empty>No other GTM was seen on this store within the last 5 s.</Empty>
            ) : (
              <DataTable
                caption="Others on this store"
                rows={others}
                keyOf={(one) => one.instance}
                columns={[
                  { title: "Instance", cell: (one) => one.instance },
                  { title: "Seen", isNumber: true, cell: ({ lastSeenMsAgo }) => `${age(lastSeenMsAgo)} ago` },
                  { title: "Version", cell: (one) => one.version ?? "not told" },
                  {
                    title: "Configuration",
                    cell: ({ configDiffers }) =>
                      configDiffers.length === 0 ? (
                        <Chip tone="good">alike</Chip>
                      ) : (
                        <Chip tone="warn">differs: {configDiffers.join(", ")}</Chip>
                      ),
                  },
                  {
                    title: "State",
                    cell: ({ isSameState }) => (isSameState ? "same orders and reports" : "catching up"),
                  },
                  {
                    title: "Answers otherwise",
                    cell: ({ disagreements }) =>
                      disagreements.length === 0
                        ? "nowhere"
                        : disagreements
                            .map(
                              ({ question, here, there, forMs }) =>
                                `${question}: ${here ?? "none"} here, ${there ?? "none"} there, for ${age(forMs)}`,
                            )
                            .join("; "),
                  },
                ]}
              />
            )}
          </>
        )}
      </WithState>
      <Command words={["instances"]} />
    </>
  );
};
