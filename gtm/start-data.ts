/** The data of a GTM put together: what is known, who keeps it, and what is said when some of it fails. */
import { randomUUID } from "node:crypto";
import { createAcmeChallenges } from "#gtm/datalayer/acme.ts";
import { createAgreement } from "#gtm/datalayer/agreement.ts";
import { createAudit } from "#gtm/datalayer/audit.ts";
import { createCellRegions } from "#gtm/datalayer/cell-regions.ts";
import { createConversationStore } from "#gtm/datalayer/conversation-store.ts";
import { createDecisionLog } from "#gtm/datalayer/decision-log.ts";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { createGeoip } from "#gtm/datalayer/geoip.ts";
import { createLearning } from "#gtm/datalayer/learning.ts";
import { createLearntStore } from "#gtm/datalayer/learnt-store.ts";
import { createMeasuredTurns } from "#gtm/datalayer/measured-turns.ts";
import { createOperatorState } from "#gtm/datalayer/operator-state.ts";
import { createPredictions } from "#gtm/datalayer/predictions.ts";
import { createProbes } from "#gtm/datalayer/probe.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import { createStoredResponses } from "#gtm/datalayer/stored-responses.ts";
import { createTokenStore } from "#gtm/datalayer/token-store.ts";
import { createTurns } from "#gtm/datalayer/turns.ts";
import { createWorldFile } from "#gtm/datalayer/world-file.ts";
import { createWorldSource } from "#gtm/datalayer/world-source.ts";
import { canonicalAnswers } from "#gtm/steering/canonical.ts";
import { decisionView } from "#gtm/steering/decision-view.ts";
import { challengeNames } from "#gtm/wire/dns/challenge-names.ts";
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import type { GtmConfig } from "./config.ts";
import { fingerprintsOf } from "./config-fingerprint.ts";
import type { StandingKeys } from "./keys/standing-keys.ts";
import { onceOf, type StandingSettings } from "./standing-settings.ts";
import { VERSION } from "./version.ts";

/** Made once of each configuration that stood. */
const namesOf = onceOf(({ dns, pools, models, sites, http }: GtmConfig) =>
  challengeNames({ ...dns, pools, models, regions: sites, front: http.addresses }),
);

const configuredNow = (settings: StandingSettings) => {
  const regions = onceOf(({ sites }: GtmConfig) => sites.map(({ id }) => id));
  const pools = onceOf((config: GtmConfig) => config.pools.map(({ name }) => name));
  return {
    regions: () => regions(settings.now().config),
    pools: () => pools(settings.now().config),
    policy: () => settings.now().config.policy,
  };
};

export type GtmOptions = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
};

export type GtmData = ReturnType<typeof createData>;

/** Of the world file: those asked for latest, of about 60 octets each. */
const SAVED_CELLS = 4_096;

/** Nothing runs before its parts are started. */
export const createData = (
  settings: StandingSettings,
  store: Store,
  keys: StandingKeys,
  { clock, log, metrics }: GtmOptions,
) => {
  const { instance, geo, probes: targets, store: stored } = settings.now().config;
  const configured = configuredNow(settings);
  const fingerprints = onceOf((config: GtmConfig) => fingerprintsOf(config, keys.labels));
  const toEpochMs = (monotonicMs: number): number => clock.epochMs() - (clock.monotonicMs() - monotonicMs);
  const failures = createStoreFailures({ log, metrics, clock });
  const degradations = createDegradations({ clock, log, metrics });
  // Whoever notices first; begun anew it does no harm.
  const onWiped = (): void => conversations.reoffer();
  const geoip = createGeoip({ ...geo, log, metrics });
  const cells = createCellRegions(clock);
  const operators = createOperatorState({
    ...{ store, clock, log, failures, degradations, onWiped },
    onChanged: () => source.touch(),
  });
  const challenges = createAcmeChallenges({
    ...{ store, clock, log, metrics, failures, degradations },
    get names() {
      return namesOf(settings.now().config);
    },
  });
  const probes = createProbes({ targets, clock, log, metrics, onChanged: () => source.touch() });
  const conversations = createConversationStore({
    ...{ store, clock, metrics, failures, degradations },
    random: Math.random,
    get regions() {
      return configured.regions();
    },
    get policy() {
      return configured.policy();
    },
  });
  const audit = createAudit({ store, log, failures });
  const tokens = createTokenStore({ store, clock, log, failures, degradations });
  const responses = createStoredResponses({
    ...{ store, metrics, failures },
    get regions() {
      return configured.regions();
    },
  });
  const agreement = createAgreement({
    ...{ clock, log, metrics, degradations, instance, version: VERSION, boot: randomUUID() },
    get config() {
      return fingerprints(settings.now().config);
    },
    ordersRev: () => operators.current().rev,
    answers: (world) => canonicalAnswers(settings.now().config.pools, world, configured.policy()),
  });
  const learning = createLearning({
    ...{ clock, metrics },
    world: () => source.world(),
    get sites() {
      return settings.now().config.sites;
    },
    get pools() {
      return configured.pools();
    },
    get policy() {
      return configured.policy();
    },
  });
  const source = createWorldSource({
    ...{ store, clock, log, metrics, failures, degradations, instance, cells, onWiped },
    agreement,
    reportKeys: keys.reportKeys,
    probes: probes.facts,
    admin: operators.admin,
    overrides: operators.overrides,
    drains: operators.drains,
    live: conversations.live,
    learning,
    get sites() {
      return settings.now().config.sites;
    },
    get models() {
      return settings.now().config.models;
    },
    get policy() {
      return configured.policy();
    },
  });
  const decisions = createDecisionLog({
    ...{ store, clock, log, metrics, failures, degradations, instance },
    view: (entry) => decisionView(entry, settings.at(entry.decision.decidedAtMs).config.policy, toEpochMs),
  });
  const learntStore = createLearntStore({ store, clock, failures, learning });
  const measuredTurns = createMeasuredTurns();
  const predictions = createPredictions(metrics, decisions.get);
  const turns = createTurns({
    ...{ store, clock, log, metrics, failures, reportKeys: keys.reportKeys },
    get regions() {
      return configured.regions();
    },
    onTurns: (measured) => {
      predictions(measured);
      learning.measured(measured);
      measuredTurns.tell(measured);
    },
  });
  const worldFile = createWorldFile({
    ...{ path: stored.world_file, clock, log, metrics, degradations, instance },
    isStoreUp: () => source.world().isStoreUp,
    take: () => ({ reports: [...source.saved()], orders: operators.record(), cells: cells.latest(SAVED_CELLS) }),
    give: ({ reports, orders, cells: saved }, savedForMs) => {
      operators.restore(orders);
      cells.hear(saved);
      source.restore(reports.map(({ report, ageMs }) => ({ report, ageMs, savedForMs })));
    },
  });

  /** The settings are others now; when it returns everything here goes by them. */
  const settle = (): void => {
    const { config } = settings.now();
    keys.settle();
    geoip.relocate(config.geo.static);
    probes.aim(config.probes);
    learning.settle();
    source.settle();
  };

  return {
    settle,
    ...{ degradations, geoip, cells, operators, challenges, probes, conversations, agreement, source, decisions },
    ...{ audit, tokens, measuredTurns, worldFile, responses, learning, turns, learntStore },
  };
};
