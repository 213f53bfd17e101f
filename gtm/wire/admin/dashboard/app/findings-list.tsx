/** What is wrong now, or that nothing is: the first thing on the page. */
import type { RecentView } from "#gtm/wire/admin/routes/recent.ts";
import type { Status } from "#gtm/wire/admin/routes/status.ts";
import { findingsOf } from "./findings.ts";
import { count } from "./quantity.ts";

export const Findings = ({ status, recent }: { readonly status: Status; readonly recent: RecentView | null }) => {
  const findings = findingsOf(status, recent, Date.now());
  if (findings.length === 0) {
    return (
      <p class="box good" role="status">
        Nothing is wrong: {count(status.regions.length)} regions in service, the store answers.{turnsText(recent)}
      </p>
    );
  }
  return (
    <ul class="findings" aria-label="What is wrong">
      {findings.map(({ tone, text, href }) => (
        <li key={text} class={`box ${tone}`}>
          {href === null ? text : <a href={href}>{text}</a>}
        </li>
      ))}
    </ul>
  );
};

/** What users had of it, over the quarter of an hour that is shown below. */
const turnsText = (recent: RecentView | null): string => {
  const turns = recent?.buckets.flatMap((bucket) => bucket.turns) ?? [];
  const all = turns.reduce((sum, one) => sum + one.turns, 0);
  const slow = turns.reduce((sum, one) => sum + one.overThreeSeconds, 0);
  return all === 0 ? "" : ` ${count(slow)} of ${count(all)} turns waited over 3 s for their first token, last 15 min.`;
};
