/** The report as a file: JSON of one version, the same bytes for the same runs. */
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { REPORT_VERSION, type Report } from "#gtm/simulation/report/report.ts";
import { CliFailure, EXIT } from "./failure.ts";

const count = z.int().nonnegative();
const figure = z.number();
const maybe = z.number().nullable();

/** Every field is explained beside its type, in gtm/simulation/report/run-figures.ts. */
const Run = z.looseObject({
  seed: z.int(),
  ...{ turnsServed: count, turnsLost: count, turnsUnfinished: count, failedAttempts: count },
  ...{ conversations: count, firstTurns: count, recomputedTokens: figure, moves: count },
  ...{ ttftMeanMs: maybe, ttftP50Ms: maybe, ttftP95Ms: maybe, ttftP99Ms: maybe },
  ...{ firstTurnTtftMeanMs: maybe, laterTurnTtftMeanMs: maybe, endToEndMeanMs: maybe, endToEndP95Ms: maybe },
  ...{ outputTokensPerSecond: figure, decodeTokensPerSecond: maybe },
  ...{ withinSloFraction: maybe, aboveThreeSecondsFraction: maybe, cachedFraction: maybe },
  ...{ prefillGpuSeconds: figure, utilisationFraction: figure, noCacheLoadFraction: figure },
  ...{ movesPerConversation: maybe, queueMeanMs: maybe, queueErrorMs: maybe, queueErrorFraction: maybe },
  ...{ ttftErrorMs: maybe, ttftErrorFraction: maybe },
  ...{ textBytesAcross: figure, textCentsAcross: maybe, contextBytesLeft: figure, contextCentsLeft: maybe },
});

/** Mean, and half of the 95 % interval. */
const Spread = z.looseObject({ mean: figure, halfWidth: maybe }).nullable();

const Policy = z.looseObject({
  policy: z.string(),
  kind: z.enum(["ours", "rival", "oracle"]),
  parameters: z.record(z.string(), z.union([z.number(), z.string(), z.null()])),
  waitsGrow: z.boolean(),
  runs: z.array(Run),
  standing: z.looseObject({
    rival: z.string().nullable(),
    ...{ ttftMean: Spread, ttftP95: Spread, endToEndP95: Spread, withinSlo: Spread },
  }),
  /** By ascending fractions; the last is the longest of all. */
  ttftQuantilesMs: z.array(figure),
  series: z.looseObject({
    sliceMs: figure,
    prefillFraction: z.array(z.array(figure)),
    ttftMeanMs: z.array(maybe),
    ttftP95Ms: z.array(maybe),
  }),
  recoveries: z
    .array(
      z.looseObject({
        ...{ region: count, atMs: figure, sliceMs: figure, beforeP95Ms: maybe, recoveredAfterMs: maybe },
        ...{ displacedTurns: z.array(count), displacedP95Ms: z.array(maybe) },
        ...{ beforeP95OfPromise: maybe, displacedP95OfPromise: z.array(maybe) },
        ...{ withinSloBefore: z.array(maybe), withinSloAfter: z.array(z.array(maybe)) },
      }),
    )
    // Reports written before this was looked at.
    .default([]),
});

export const ReportFile = z.looseObject({
  format: z.literal("gtm-simulation"),
  version: z.literal(REPORT_VERSION),
  isComplete: z.boolean(),
  scenarios: z.array(
    z.looseObject({
      ...{ name: z.string(), says: z.string(), isOpenLoop: z.boolean(), warmUpMs: figure, measuredMs: figure },
      setting: z.record(z.string(), z.union([z.number(), z.string()])),
      regions: z.array(z.looseObject({ id: z.string(), replicas: count })),
      happenings: z.array(z.looseObject({ atMs: figure, says: z.string() })),
      policies: z.array(Policy),
    }),
  ),
});

/** @throws {CliFailure} naming the file and what is wrong with it */
export const readReport = (path: string): Report => {
  const parsed = ReportFile.safeParse(jsonIn(path));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "" : ` at ${issue.path.join(".")}`;
  throw new CliFailure(
    EXIT.error,
    `${path}: expected a report that this version of gtm simulate wrote with --json (${issue?.message ?? "not one"}${where})`,
  );
};

const jsonIn = (path: string): unknown => {
  const text = attempt(path, "read", () => readFileSync(path, "utf8"));
  try {
    return JSON.parse(text);
  } catch {
    throw new CliFailure(EXIT.error, `${path}: expected JSON that gtm simulate --json wrote`);
  }
};

/** What is there stays until there is something to write. */
export const checkWritable = (path: string): void => attempt(path, "written", () => closeSync(openSync(path, "a")));

export const writeReportText = (path: string, text: string): void =>
  attempt(path, "written", () => writeFileSync(path, text));

export const reportJson = (report: Report): string => `${JSON.stringify(report)}\n`;

const attempt = <T>(path: string, what: string, act: () => T): T => {
  try {
    return act();
  } catch (error) {
    throw new CliFailure(EXIT.error, `${path} cannot be ${what}: ${error instanceof Error ? error.message : error}`);
  }
};
