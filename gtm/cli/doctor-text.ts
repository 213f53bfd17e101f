/** Findings for people, by subject and the worst first; or as JSON. */
import type { Examined } from "#gtm/doctor/examine.ts";
import { type Finding, SEVERITIES, type Severity } from "#gtm/doctor/finding.ts";
import type { Format } from "./api-command.ts";
import type { Colour } from "./cell.ts";
import { coloured } from "./table.ts";

export type { Format } from "./api-command.ts";

const COLOURS: Readonly<Record<Severity, Colour>> = { problem: "red", warning: "yellow", unknown: "dim", ok: "green" };
const WIDTH = Math.max(...SEVERITIES.map(({ length }) => length));
const WORDS: Readonly<Record<Severity, readonly [one: string, several: string]>> = {
  problem: ["problem", "problems"],
  warning: ["warning", "warnings"],
  unknown: ["unknown", "unknown"],
  ok: ["ok", "ok"],
};

export const findingsText = (examined: readonly Examined[], format: Format, isColourful: boolean): string => {
  const flat = examined.flatMap(({ subject, findings }) => findings.map((finding) => ({ subject, ...finding })));
  switch (format) {
    case "json":
      return `${JSON.stringify({ items: flat, counts: countsOf(flat) }, null, 2)}\n`;
    case "jsonl":
      return flat.map((finding) => `${JSON.stringify(finding)}\n`).join("");
    case "table":
      return `${worstSubjectFirst(examined)
        .map((one) => subjectText(one, isColourful))
        .join("\n")}\n${summary(flat)}\n`;
  }
};

const countsOf = (findings: readonly Finding[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    SEVERITIES.map((severity) => [severity, findings.filter((one) => one.severity === severity).length]),
  );

const worstSubjectFirst = (examined: readonly Examined[]): readonly Examined[] => {
  const rank = ({ findings: [worst] }: Examined): number => SEVERITIES.indexOf(worst?.severity ?? "ok");
  return examined.filter(({ findings }) => findings.length > 0).toSorted((a, b) => rank(a) - rank(b));
};

const subjectText = ({ subject, findings }: Examined, isColourful: boolean): string => {
  const title = coloured(subject.toUpperCase(), "bold", isColourful);
  return `${title}\n${findings.map((finding) => findingText(finding, isColourful)).join("")}`;
};

const findingText = ({ id, severity, what, remedy }: Finding, isColourful: boolean): string => {
  const shown = coloured(severity, COLOURS[severity], isColourful);
  const padding = " ".repeat(WIDTH - severity.length);
  // What is in order needs no name to be looked up by.
  const name = severity === "ok" ? "" : ` (${id})`;
  const indent = " ".repeat(2 + WIDTH + 2);
  return `  ${shown}${padding}  ${what}${name}\n${remedy === null ? "" : `${indent}→ ${remedy}\n`}`;
};

const summary = (findings: readonly Finding[]): string =>
  SEVERITIES.map((severity) => {
    const count = findings.filter((one) => one.severity === severity).length;
    return `${count} ${WORDS[severity][count === 1 ? 0 : 1]}`;
  }).join(", ");
