/** Names that operators meet, read from the sources: error codes, metrics, log events. */
import { faultOfMetric, type MetricKind } from "#shared/metric-name.ts";
import { codeOf, withoutComments } from "./source.ts";
import type { SourceFile } from "./source-files.ts";

const CODE = /"([A-Z]+(?:_[A-Z]+)+)"/g;
const THROWN = /\bnew OperationalError\(\s*"([^"]+)"/g;
const METRIC = /\b(counter|gauge|histogram)\(\s*\{\s*name: "([^"]+)"/g;
const METRIC_NAME = /"((?:gtm|edge_agent)_[a-z0-9_]*_(?:total|seconds|bytes|fraction|tokens|up|info))"/g;
const EVENT = /\.(?:debug|info|warn|error)\(\s*"([^"]*)"/g;
const EVENT_FORM = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:\.[a-z][a-z0-9]*(?:-[a-z0-9]+)*)+$/;

const namesIn = (files: readonly SourceFile[], pattern: RegExp): readonly string[] =>
  files.flatMap(({ text }) => [...withoutComments(text).matchAll(pattern)].map(([, name = ""]) => name));

/** @param table the codes of shared/errors.ts, which itself is not among the files */
export const faultsOfCodes = (files: readonly SourceFile[], table: readonly string[]): readonly string[] => {
  const mentioned = new Set(namesIn(files, CODE));
  const thrown = new Set(namesIn(files, THROWN));
  return [
    ...table.filter((code) => !mentioned.has(code)).map((code) => `${code} is in the table and nothing reports it`),
    ...[...thrown].filter((code) => !table.includes(code)).map((code) => `${code} is reported and not in the table`),
  ];
};

export type DeclaredMetric = { readonly kind: MetricKind; readonly name: string };

export const metricsIn = (files: readonly SourceFile[]): readonly DeclaredMetric[] =>
  files.flatMap(({ text }) =>
    [...withoutComments(text).matchAll(METRIC)].map(([, kind, name = ""]) => ({ kind: kind as MetricKind, name })),
  );

export const faultsOfMetrics = (files: readonly SourceFile[]): readonly string[] => {
  const declared = metricsIn(files);
  const kinds = Map.groupBy(declared, ({ name }) => name);
  const faults = declared.flatMap(({ kind, name }) => faultOfMetric(kind, { name, help: "in the source" }) ?? []);
  for (const [name, metrics] of kinds) {
    const different = new Set(metrics.map(({ kind }) => kind));
    if (different.size > 1) faults.push(`${name} is ${[...different].join(" and ")}`);
  }
  for (const name of new Set(namesIn(files, METRIC_NAME))) {
    if (!kinds.has(name)) faults.push(`${name} is named, and never declared as \`counter({ name: "…`);
  }
  return faults;
};

export const faultsOfEvents = (files: readonly SourceFile[]): readonly string[] =>
  namesIn(files, EVENT)
    .filter((event) => !EVENT_FORM.test(event))
    .map((event) => `"${event}" is no event: expected dotted words, such as report.stale`);

const EVASION = /\b(?:it|test|describe|suite|t)\.(?:skip|todo|only)\b|\{\s*(?:skip|todo|only):/g;

/** Strings are not looked into. */
export const evasionsIn = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap(({ path, text }) => [...codeOf(text).matchAll(EVASION)].map(([found]) => `${path}: ${found}`));
