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
import { VERSION } from "./version.ts";

export type GtmOptions = { readonly clock: Clock; readonly log: Logger; readonly metrics: Metrics };

export type GtmData = ReturnType<typeof createData>;

/** Of the world file: those asked for latest, of about 60 octets each. */
const SAVED_CELLS = 4_096;

/** Nothing runs before its parts are started. */
export const createData = (
  config: GtmConfig,
  store: Store,
  keys: StandingKeys,
  { clock, log, metrics }: GtmOptions,
) => {
  const { sites, models, pools, policy, instance, dns, http } = config;
  const toEpochMs = (monotonicMs: number): number => clock.epochMs() - (clock.monotonicMs() - monotonicMs);
  const regions = sites.map(({ id }) => id);
  const failures = createStoreFailures({ log, metrics, clock });
  const degradations = createDegradations({ clock, log, metrics });
  // Whoever notices first; begun anew it does no harm.
  const onWiped = (): void => conversations.reoffer();
  const geoip = createGeoip({ ...config.geo, log, metrics });
  const cells = createCellRegions(clock);
  const operators = createOperatorState({
    ...{ store, clock, log, failures, degradations, onWiped },
    onChanged: () => source.touch(),
  });
  const challenges = createAcmeChallenges({
    ...{ store, clock, log, metrics, failures, degradations },
    names: challengeNames({ ...dns, pools, models, regions: sites, front: http.addresses }),
  });
  const probes = createProbes({ targets: config.probes, clock, log, metrics, onChanged: () => source.touch() });
  const conversations = createConversationStore({
    ...{ store, clock, metrics, failures, degradations, regions, policy },
    random: Math.random,
  });
  const audit = createAudit({ store, log, failures });
  const responses = createStoredResponses({ store, metrics, failures, regions });
  const agreement = createAgreement({
    ...{ clock, log, metrics, degradations, instance, version: VERSION, boot: randomUUID() },
    config: fingerprintsOf(config, keys.labels),
    ordersRev: () => operators.current().rev,
    answers: (world) => canonicalAnswers(pools, world, policy),
  });
  const learning = createLearning({
    ...{ clock, metrics, sites, policy },
    pools: pools.map(({ name }) => name),
    world: () => source.world(),
  });
  const source = createWorldSource({
    ...{ store, clock, log, metrics, failures, degradations, instance, sites, models, policy, cells, onWiped },
    agreement,
    reportKeys: keys.reportKeys,
    probes: probes.facts,
    admin: operators.admin,
    overrides: operators.overrides,
    live: conversations.live,
    learning,
  });
  const decisions = createDecisionLog({
    ...{ store, clock, log, metrics, failures, degradations, instance },
    view: (entry) => decisionView(entry, policy, toEpochMs),
  });
  const learntStore = createLearntStore({ store, clock, failures, learning });
  const measuredTurns = createMeasuredTurns();
  const predictions = createPredictions(metrics, decisions.get);
  const turns = createTurns({
    ...{ store, clock, log, metrics, failures, regions, reportKeys: keys.reportKeys },
    onTurns: (measured) => {
      predictions(measured);
      learning.measured(measured);
      measuredTurns.tell(measured);
    },
  });
  const worldFile = createWorldFile({
    ...{ path: config.store.world_file, clock, log, metrics, degradations, instance },
    isStoreUp: () => source.world().isStoreUp,
    take: () => ({ reports: [...source.saved()], orders: operators.record(), cells: cells.latest(SAVED_CELLS) }),
    give: ({ reports, orders, cells: saved }, savedForMs) => {
      operators.restore(orders);
      cells.hear(saved);
      source.restore(reports.map(({ report, ageMs }) => ({ report, ageMs, savedForMs })));
    },
  });

  return {
    ...{ degradations, geoip, cells, operators, challenges, probes, conversations, agreement, source, decisions },
    ...{ audit, measuredTurns, worldFile, responses, learning, turns, learntStore },
  };
};
