/** What the doctor says of one thing: how bad it is, and what mends it. */
import { age } from "#gtm/cli/quantity.ts";

/** `unknown`: it could not be found out, which harms nobody by itself. */
export type Severity = "problem" | "warning" | "unknown" | "ok";

export type Finding = {
  /** Kebab-case; it stays as it is from version to version, and several findings may have the same. */
  readonly id: string;
  readonly severity: Severity;
  /** One sentence, with the number. */
  readonly what: string;
  /** One sentence, with the command or the line of the configuration; null where nothing is to be done. */
  readonly remedy: string | null;
};

/** The worst first. */
export const SEVERITIES: readonly Severity[] = ["problem", "warning", "unknown", "ok"];

export const problem = (id: string, what: string, remedy: string): Finding => ({
  ...{ id, severity: "problem", what, remedy },
});
export const warning = (id: string, what: string, remedy: string): Finding => ({
  ...{ id, severity: "warning", what, remedy },
});
export const unknown = (id: string, what: string, remedy: string | null = null): Finding => ({
  ...{ id, severity: "unknown", what, remedy },
});
export const ok = (id: string, what: string): Finding => ({ id, severity: "ok", what, remedy: null });

/** The worst first; of as bad ones the order stays. */
export const worstFirst = (findings: readonly Finding[]): readonly Finding[] =>
  findings.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));

/** "eu", "eu and us", "ap, eu and us" */
export const listed = (names: readonly string[]): string => {
  const last = names.at(-1) ?? "nobody";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
};

/** "0.3 ms", "24 ms", "3.1 s" */
export const brief = (ms: number): string =>
  ms < 9.95 ? `${ms.toFixed(1)} ms` : ms < 1_000 ? `${Math.round(ms)} ms` : age(ms);

/** "1 key", "12 keys" */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
