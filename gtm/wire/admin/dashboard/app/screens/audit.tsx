/** Who changed what at any GTM of the store, and who was refused. */
import type { AuditView } from "#gtm/wire/admin/routes/audit.ts";
import { instant } from "../../../quantity-text.ts";
import { Chip } from "../chip.tsx";
import { Command } from "../command.tsx";
import { DataTable } from "../data-table.tsx";
import { Empty, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";

const POLL_MS = 5_000;

export const AuditScreen = () => {
  const audit = useApi<{ readonly items: readonly AuditView[] }>("/audit?limit=200", POLL_MS);
  return (
    <>
      <h2>Audit</h2>
      <WithState known={audit} what="audit">
        {({ items }) =>
          items.length === 0 ? (
            <Empty>Nobody has changed anything.</Empty>
          ) : (
            <DataTable
              caption="The newest 200"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                { title: "When", cell: ({ at }) => instant(at) },
                { title: "Who", cell: ({ actor, role }) => `${actor} (${role})` },
                { title: "At", cell: ({ instance }) => instance },
                { title: "What", cell: ({ method, path }) => `${method} ${path.replace(/^\/api\/v1/, "")}` },
                {
                  title: "With",
                  cell: ({ body, overrideRule }) =>
                    `${overrideRule === null ? "" : `passing ${overrideRule} `}${body === null || body === undefined ? "" : JSON.stringify(body)}`,
                },
                { title: "Answer", cell: ({ status }) => <Chip tone={status < 400 ? "good" : "warn"}>{status}</Chip> },
              ]}
            />
          )
        }
      </WithState>
      <Command words={["audit"]} />
    </>
  );
};
