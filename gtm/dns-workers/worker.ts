/** A thread that answers DNS: a server like the main thread's, whose world is what the main thread says. */
import { parentPort, workerData } from "node:worker_threads";
import { createGeoip } from "#gtm/datalayer/geoip.ts";
import { createDecisionIds, createSharedIds } from "#gtm/decision-id.ts";
import { clientOfArea } from "#gtm/steering/area-client.ts";
import { createCellSteer } from "#gtm/steering/cell.ts";
import type { Ports } from "#gtm/steering/ports.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import { createLabelFinder } from "#gtm/wire/dns/label-finder.ts";
import type { Listen } from "#gtm/wire/dns/listen.ts";
import { createDnsServer, type DnsServer } from "#gtm/wire/dns/server.ts";
import type { Birth, FromThread, ToThread } from "./messages.ts";
import { createMirror } from "./mirror.ts";
import { createRelayedEntries } from "./relayed-entries.ts";
import { createRelayedLog } from "./relayed-log.ts";
import { createRelayedMetrics } from "./relayed-metrics.ts";
import { createRemoteLabels } from "./remote-labels.ts";
import { createThreadClock } from "./thread-clock.ts";

const BATCH_EVERY_MS = 100;

const say = (message: FromThread): void => parentPort?.postMessage(message);

const { setup, clockOriginMs, idSalt, labelWithinMs, rateTable } = workerData as Birth;
const clock = createThreadClock(clockOriginMs);
const metrics = createRelayedMetrics();
const dropped = metrics.counter({
  name: "gtm_dns_worker_dropped_total",
  help: "What threads that answer DNS had to say and the main thread was not told, because it was too much at once.",
  labels: ["what"],
});
const log = createRelayedLog(() => dropped.inc({ what: "log-lines" }));
const entries = createRelayedEntries(clock, () => dropped.inc({ what: "decisions" }));
const mirror = createMirror(clock);
const geoip = createGeoip({ ...setup.geo, log, metrics });
const ports: Ports = {
  world: mirror.world,
  locate: geoip.locate,
  findConversation: () => null,
  record: entries.record,
};
const steer = createSteer(ports, setup.policy);
const decideCell = createCellSteer(ports, setup.policy);
const newId = createDecisionIds(clock);
const sharedId = createSharedIds(idSalt);
const { labels } = mirror;
const remoteLabels = createRemoteLabels({
  ask: (asked) => say({ kind: "labels", asked }),
  findHere: createLabelFinder({ ...setup, ports, steer, labels, newId, clock, onRead: () => {} }),
  withinMs: labelWithinMs,
  ...{ clock, metrics, log },
});

const serverAt = (listen: readonly Listen[]): DnsServer =>
  createDnsServer({
    ...setup,
    ...{ listen, isShared: true, rateTable, ports, steer, labels, clock, log, metrics },
    findLabel: remoteLabels.find,
    // Nothing that only this thread knows: another would decide otherwise.
    decideCell: (query, client, cell) => decideCell(query, clientOfArea(client), cell, mirror.regionOf(cell.key)),
    newId: (cell) => (cell === undefined ? newId() : sharedId(mirror.epoch(), cell.key)),
    cookieKeys: mirror.cookieKeys,
    challengeTexts: mirror.challenges.texts,
    degraded: mirror.degraded,
  });

const sayBatch = (): void =>
  say({ kind: "batch", batch: { ...entries.take(), metrics: metrics.take(), log: log.take() } });

let server: DnsServer | null = null;
const open = async (listen: readonly Listen[]): Promise<void> => {
  const made = serverAt(listen);
  try {
    await made.start();
    server = made;
    say({ kind: "opened", addresses: made.addresses() });
  } catch (fault) {
    say({ kind: "failed", message: fault instanceof Error ? fault.message : String(fault) });
  }
};
const stop = async (): Promise<void> => {
  await server?.stop();
  clearInterval(batching);
  sayBatch();
  say({ kind: "stopped" });
};

const hear = (message: ToThread): void => {
  switch (message.kind) {
    case "epoch":
      mirror.hearEpoch(message.epoch);
      entries.turnEpoch();
      break;
    case "facts":
      mirror.hearFacts(message.facts);
      break;
    case "challenge":
      mirror.challenges.adopt(message.name, message.entries);
      break;
    case "labels":
      remoteLabels.hear(message.found);
      break;
    case "open":
      void open(message.listen);
      break;
    case "stop":
      void stop();
      break;
  }
};

await geoip.start();
const batching = setInterval(sayBatch, BATCH_EVERY_MS);
parentPort?.on("message", hear);
say({ kind: "ready" });
