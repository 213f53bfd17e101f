/** What GTMs and other policies may know in a play: reports as they are heard, probes' results, operators' orders. */
import type { ProbeFact } from "#gtm/domain/health.ts";
import { probedOnce } from "#gtm/domain/health.ts";
import type { HeardReport } from "#gtm/domain/heard-report.ts";
import type { AdminState } from "#gtm/domain/region.ts";
import type { RegionId } from "#shared/ids.ts";
import type { Agenda } from "./clock.ts";
import type { PlayedRegion } from "./play-region.ts";
import { createReporter, SIMULATED } from "./region-reporter.ts";
import type { Known } from "./rival.ts";
import type { Happening, Scenario } from "./scenario.ts";

export type PlayedKnown = Known & {
  /** Tells those who look from outside; what it means for the engines is the caller's. */
  readonly befall: (happening: Happening) => void;
};

/** As production probes: each second, down after three failures, back after two good ones. */
const PROBE_EVERY_MS = 1_000;
const PROBE_THRESHOLDS = { fall: 3, rise: 2 };

export const createPlayedKnown = (
  agenda: Agenda,
  scenario: Scenario,
  regions: readonly PlayedRegion[],
): PlayedKnown => {
  const sites = scenario.fleet.map(({ site }) => site);
  const probes = new Map<RegionId, ProbeFact>();
  const admin = new Map<RegionId, AdminState>();
  const reports: (HeardReport | null)[] = sites.map(() => null);
  const isSilent = sites.map(() => false);
  const isProbed = sites.map(() => false);
  const reportListeners: ((region: number, report: HeardReport) => void)[] = [];
  const newsListeners: (() => void)[] = [];
  const tellNews = (): void => {
    for (const listener of newsListeners) listener();
  };

  const hear = (index: number, report: HeardReport): void => {
    reports[index] = report;
    for (const listener of reportListeners) listener(index, report);
  };
  for (const [index, { site, engine }] of scenario.fleet.entries()) {
    const region = regions[index];
    if (region === undefined) throw new Error(`${site.id} is not played`);
    const { everyMs, delayMs, eyes } = scenario.reporting;
    const reporter = createReporter({ site, region, engine, model: SIMULATED, eyes });
    const look = (): void => {
      const nowMs = agenda.nowMs();
      // A running prefill drains between events, too.
      region.catchUp(nowMs);
      // Agents die with their region.
      if (region.phase() !== "down" && !isSilent[index]) {
        const { report } = reporter(nowMs);
        const heard = { report, heardAtMs: nowMs + delayMs, ageWhenHeardMs: delayMs };
        if (delayMs === 0) hear(index, heard);
        else agenda.at(nowMs + delayMs, () => hear(index, heard));
      }
      agenda.at(nowMs + everyMs, look);
    };
    // Each region's agent keeps time of its own.
    agenda.at((index * everyMs) / sites.length, look);
  }

  /** Until its result is settled; a region that was always well is not probed, for that would say nothing. */
  const probe = (index: number): void => {
    const site = sites[index];
    const region = regions[index];
    if (site === undefined || region === undefined) return;
    const isGood = region.phase() !== "down";
    const before = probes.get(site.id) ?? null;
    const fact = probedOnce(before, isGood, PROBE_THRESHOLDS);
    probes.set(site.id, fact);
    tellNews();
    isProbed[index] = isGood ? fact.goodInARow < PROBE_THRESHOLDS.rise : fact.failedInARow < PROBE_THRESHOLDS.fall;
    if (isProbed[index]) agenda.at(agenda.nowMs() + PROBE_EVERY_MS, () => probe(index));
  };
  const startProbing = (index: number): void => {
    if (isProbed[index]) return;
    isProbed[index] = true;
    agenda.at(agenda.nowMs() + PROBE_EVERY_MS, () => probe(index));
  };

  const mayServe = (index: number): boolean => {
    const site = sites[index];
    if (site === undefined || probes.get(site.id)?.isDown === true) return false;
    if ((admin.get(site.id) ?? "active") !== "active") return false;
    const phase = regions[index]?.phase();
    return phase !== "cold" && phase !== "loading";
  };
  return {
    rttMs: scenario.rttMs,
    // Where no model is loaded anywhere, some region has to load it.
    mayServe: (index) => mayServe(index) || (isReadyNowhere(regions) && regions[index]?.phase() !== "down"),
    report: (index) => reports[index] ?? null,
    onReport: (listener) => void reportListeners.push(listener),
    probes: () => probes,
    admin: () => admin,
    onNews: (listener) => void newsListeners.push(listener),
    befall: ({ kind, region }) => {
      const site = sites[region];
      if (site === undefined) throw new RangeError(`there is no region ${region} for what befalls it`);
      if (kind === "fails" || kind === "returns") startProbing(region);
      if (kind === "falls-silent" || kind === "speaks-again") isSilent[region] = kind === "falls-silent";
      if (kind !== "drains" && kind !== "undrains") return;
      admin.set(site.id, kind === "drains" ? "drain-all" : "active");
      tellNews();
    },
  };
};

const isReadyNowhere = (regions: readonly PlayedRegion[]): boolean =>
  regions.every((region) => region.phase() === "cold" || region.phase() === "down");
