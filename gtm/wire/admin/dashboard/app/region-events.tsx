/** What happened to a region, newest first, and since when somebody looks. */
import type { RegionHistoryPage } from "#gtm/wire/admin/routes/region-history.ts";
import { instant } from "../../quantity-text.ts";
import { Chip } from "./chip.tsx";
import { Command } from "./command.tsx";
import { age } from "./quantity.ts";
import { Empty, WithState } from "./state-box.tsx";
import { useApi } from "./use-api.ts";

const POLL_MS = 5_000;
const MOST_SHOWN = 50;

export const RegionEvents = ({ id }: { readonly id: string }) => {
  const history = useApi<RegionHistoryPage>(`/regions/${encodeURIComponent(id)}/history?limit=${MOST_SHOWN}`, POLL_MS);
  return (
    <section>
      <h3>What happened here</h3>
      <WithState known={history} what="history of the region">
        {({ items, watchedSince, next_cursor }) => (
          <>
            {items.length === 0 ? (
              <Empty>Nothing, since this GTM began to look at {instant(watchedSince)}.</Empty>
            ) : (
              <ol class="events">
                {items.map(({ at, ageMs, kind, what, isWorse }) => (
                  <li key={`${at}${what}`}>
                    <time dateTime={at}>{instant(at)}</time> <small>{age(ageMs)} ago</small>{" "}
                    <Chip tone={isWorse ? "warn" : "good"}>{kind}</Chip> {what}
                  </li>
                ))}
              </ol>
            )}
            {items.length > 0 && (
              <p class="quiet">
                {next_cursor === null
                  ? `Nothing before is known: this GTM began to look at ${instant(watchedSince)}.`
                  : "There is more: the command line shows it."}
              </p>
            )}
          </>
        )}
      </WithState>
      <Command words={["regions", id, "--history"]} />
    </section>
  );
};
