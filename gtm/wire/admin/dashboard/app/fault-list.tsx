/** Faults with what mends each, the worst first. */

export type Fault = {
  readonly id: string;
  readonly severity: string;
  readonly what: string;
  readonly remedy: string | null;
};

const TONES: Readonly<Record<string, string>> = { problem: "bad", warning: "warn", ok: "good", unknown: "empty" };
const ORDER = ["problem", "warning", "unknown", "ok"];
const rank = ({ severity }: Fault): number => ORDER.indexOf(severity);

export const FaultList = ({ faults, label }: { readonly faults: readonly Fault[]; readonly label: string }) => (
  <ul class="findings" aria-label={label}>
    {faults
      .toSorted((a, b) => rank(a) - rank(b))
      .map(({ id, severity, what, remedy }) => (
        <li key={`${id}${what}`} class={`box ${TONES[severity] ?? "empty"}`}>
          <strong>{severity}</strong> {what} <small>{id}</small>
          {remedy !== null && <p class="remedy">→ {remedy}</p>}
        </li>
      ))}
  </ul>
);
