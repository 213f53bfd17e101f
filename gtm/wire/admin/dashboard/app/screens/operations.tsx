/** Drains that go on or went on lately. */

import type { OperationView } from "#gtm/wire/admin/operation-view.ts";
import { trafficText } from "#gtm/wire/admin/traffic-text.ts";
import { Command } from "../command.tsx";
import { DataTable } from "../data-table.tsx";
import { etaText, OperationChip, OperationProgress } from "../operation-state.tsx";
import { hrefOf } from "../place.ts";
import { age } from "../quantity.ts";
import { Empty, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";

const POLL_MS = 2_000;

export const OperationsScreen = () => {
  const operations = useApi<{ readonly items: readonly OperationView[] }>("/operations", POLL_MS);
  return (
    <>
      <h2>Operations</h2>
      <WithState known={operations} what="list of operations">
        {({ items }) =>
          items.length === 0 ? (
            <Empty>No drain goes on, and none did lately.</Empty>
          ) : (
            <DataTable
              caption="Drains, the newest first"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                { title: "Of", cell: (one) => <a href={hrefOf("operations", one.id)}>{trafficText(one)}</a> },
                { title: "Mode", cell: ({ mode }) => mode },
                { title: "State", cell: ({ state }) => <OperationChip state={state} /> },
                { title: "Progress", cell: (one) => <OperationProgress operation={one} /> },
                { title: "Done in", isNumber: true, cell: etaText },
                { title: "Since", isNumber: true, cell: ({ ageMs }) => age(ageMs) },
                { title: "Last change", isNumber: true, cell: ({ changedAgeMs }) => `${age(changedAgeMs)} ago` },
                { title: "By", cell: ({ actor }) => actor },
                { title: "Why", cell: ({ comment }) => comment },
              ]}
            />
          )
        }
      </WithState>
      <Command words={["operations", "list"]} />
      <p class="note">
        A drain begins on the screen of its <a href={hrefOf("")}>region</a>; one of some traffic is an{" "}
        <a href={hrefOf("overrides")}>override</a>.
      </p>
    </>
  );
};
