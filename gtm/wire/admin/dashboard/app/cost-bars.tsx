/** What each region would cost, part by part, on one scale; those that may not serve say why. */
import type { ConsideredView, DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { milliseconds } from "./quantity.ts";

export const PARTS: readonly (readonly [field: keyof NonNullable<ConsideredView["cost"]>, title: string])[] = [
  ["networkMs", "network"],
  ["queueMs", "queue"],
  ["prefillMs", "prefill"],
  ["migrationMs", "context computed again"],
  ["coldStartMs", "cold start"],
  ["memoryMs", "memory"],
  ["decodeMs", "decode"],
  ["moneyMs", "money"],
  ["stalenessMs", "staleness"],
];

export const CostBars = ({ decision }: { readonly decision: DecisionSchema }) => {
  const { considered, verdict, marginMs } = decision;
  const most = Math.max(1, ...considered.map(({ cost }) => cost?.totalMs ?? 0));
  return (
    <>
      <ul class="legend" aria-hidden="true">
        {PARTS.map(([field, title]) => (
          <li key={field}>
            <span class={`swatch part-${field}`} /> {title}
          </li>
        ))}
      </ul>
      <ol class="bars">
        {considered.map((one) => (
          <li key={one.region} class={one.region === verdict.region ? "chosen" : undefined}>
            <div class="bar-head">
              <strong>{one.region}</strong>
              {one.region === verdict.region && " (chosen)"}
              {one.region === verdict.runnerUp &&
                ` (runner-up${verdict.leadMs === null ? "" : `, ${milliseconds(verdict.leadMs)} behind`})`}
              <span class="number">{one.cost === undefined ? "" : milliseconds(one.cost.totalMs)}</span>
            </div>
            {one.cost === undefined ? (
              <p class="excluded">may not serve: {exclusionText(one.exclusion)}</p>
            ) : (
              <Bar cost={one.cost} most={most} region={one.region} />
            )}
          </li>
        ))}
      </ol>
      <p class="note">A conversation leaves home only if that saves {milliseconds(marginMs)} or more (the margin).</p>
    </>
  );
};

type Cost = NonNullable<ConsideredView["cost"]>;

const Bar = ({ cost, most, region }: { readonly cost: Cost; readonly most: number; readonly region: string }) => {
  const parts = PARTS.map(([field, title]) => ({ field, title, ms: Number(cost[field]) })).filter(({ ms }) => ms > 0);
  const text = parts.map(({ title, ms }) => `${title} ${milliseconds(ms)}`).join(", ");
  let at = 0;
  return (
    <>
      <svg class="bar" viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label={`${region}: ${text}`}>
        {parts.map(({ field, title, ms }) => {
          const width = (ms / most) * 1_000;
          const from = at;
          at += width;
          return (
            <rect key={field} class={`part-${field}`} x={from} y="0" width={Math.max(1, width)} height="18">
              <title>{`${title} ${milliseconds(ms)}`}</title>
            </rect>
          );
        })}
      </svg>
      <p class="parts">{text}</p>
    </>
  );
};

/** The reason and whatever else was said of it. */
const exclusionText = (exclusion: ConsideredView["exclusion"]): string => {
  if (exclusion === undefined) return "not known";
  const { reason, ...rest } = exclusion;
  const more = Object.entries(rest).map(([name, value]) => `${name} ${String(value)}`);
  return more.length === 0 ? reason : `${reason} (${more.join(", ")})`;
};
