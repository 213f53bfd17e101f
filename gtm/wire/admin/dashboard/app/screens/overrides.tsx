/** Orders about some traffic: what stands, until when, and who said so. */
import { useState } from "preact/hooks";
import { kindText, touchedText } from "#gtm/wire/admin/override-kind.ts";
import type { OverrideView } from "#gtm/wire/admin/override-view.ts";
import { call } from "../api.ts";
import { Command } from "../command.tsx";
import { DataTable } from "../data-table.tsx";
import { OverrideForm } from "../override-form.tsx";
import { age } from "../quantity.ts";
import { Empty, Refused, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";
import { useAttempt } from "../use-attempt.ts";

const POLL_MS = 5_000;

export const OverridesScreen = () => {
  const overrides = useApi<{ readonly items: readonly OverrideView[] }>("/overrides", POLL_MS);
  const { failure, attempt } = useAttempt();
  const [asked, setAsked] = useState("");
  const cancel = ({ id, etag }: OverrideView): Promise<void> =>
    attempt(async () => {
      await call({ method: "DELETE", path: `/overrides/${encodeURIComponent(id)}`, ifMatch: etag });
      overrides.again();
    });
  return (
    <>
      <h2>Overrides</h2>
      <Refused failure={failure} />
      <WithState known={overrides} what="list of overrides">
        {({ items }) =>
          items.length === 0 ? (
            <Empty>Nothing is ordered about any traffic.</Empty>
          ) : (
            <DataTable
              caption="What stands"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                { title: "Kind", cell: kindText },
                { title: "Region", cell: ({ region }) => region },
                { title: "Pool", cell: ({ pool }) => pool },
                { title: "Model", cell: ({ model }) => model },
                { title: "Tenant", cell: ({ tenant }) => tenant },
                { title: "Left", isNumber: true, cell: ({ expiresInMs }) => age(expiresInMs) },
                { title: "Kept from it in the last minute", cell: touchedText },
                { title: "By", cell: ({ actor }) => actor },
                { title: "Why", cell: ({ comment }) => comment },
                {
                  title: "Id",
                  cell: (one) => (
                    <>
                      <code>{one.id}</code>{" "}
                      {asked === one.id ? (
                        <button type="button" class="danger small" onClick={() => void cancel(one)}>
                          Really cancel
                        </button>
                      ) : (
                        <button type="button" class="small" onClick={() => setAsked(one.id)}>
                          Cancel
                        </button>
                      )}
                    </>
                  ),
                },
              ]}
            />
          )
        }
      </WithState>
      <Command words={["overrides", "list"]} />
      <OverrideForm onDone={overrides.again} />
    </>
  );
};
