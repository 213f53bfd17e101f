/** A thread that answers DNS: a server like the main thread's, whose world is what the main thread says. */
import { parentPort, workerData } from "node:worker_threads";
import { createGeoip } from "#gtm/datalayer/geoip.ts";
import { createDecisionIds, createSharedIds } from "#gtm/decision-id.ts";
import { clientOfArea } from "#gtm/steering/area-client.ts";
import { type CellSteer, createCellSteer } from "#gtm/steering/cell.ts";
import type { Ports } from "#gtm/steering/ports.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import type { ChangingOptions } from "#gtm/wire/dns/changing-steps.ts";
import { createLabelFinder } from "#gtm/wire/dns/label-finder.ts";
import type { Listen } from "#gtm/wire/dns/listen.ts";
import { createDnsServer, type DnsServer } from "#gtm/wire/dns/server.ts";
import type { Birth, DnsSetup, FromThread, ToThread } from "./messages.ts";
import { createMirror } from "./mirror.ts";
import { createRelayedEntries } from "./relayed-entries.ts";
import { createRelayedLog } from "./relayed-log.ts";
import { createRelayedMetrics } from "./relayed-metrics.ts";
import { createRemoteLabels } from "./remote-labels.ts";
import { createThreadClock } from "./thread-clock.ts";

const BATCH_EVERY_MS = 100;

const say = (message: FromThread): void => parentPort?.postMessage(message);

const birth = workerData as Birth;
const { clockOriginMs, idSalt, labelWithinMs, rateTable } = birth;
/** What the configuration says now. */
let { setup } = birth;
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
const newId = createDecisionIds(clock);
const sharedId = createSharedIds(idSalt);
const { labels } = mirror;
/** What is decided by: made anew with another configuration. */
const decidersOf = ({ policy, pools, regions, defaultPool }: DnsSetup) => {
  const steer = createSteer(ports, policy);
  const decideCell = createCellSteer(ports, policy);
  return {
    steer,
    findHere: createLabelFinder({
      ...{ pools, regions, defaultPool, ports, steer, labels, newId, clock },
      onRead: () => {},
    }),
    // Nothing that only this thread knows: another would decide otherwise.
    decideCell: ((query, client, cell) =>
      decideCell(query, clientOfArea(client), cell, mirror.regionOf(cell.key))) satisfies CellSteer,
  };
};
let deciders = decidersOf(setup);
const remoteLabels = createRemoteLabels({
  ask: (asked) => say({ kind: "labels", asked }),
  findHere: (label, clientSubnet) => deciders.findHere(label, clientSubnet),
  withinMs: labelWithinMs,
  ...{ clock, metrics, log },
});

const changing = (): DnsSetup & ChangingOptions => {
  const { steer, decideCell } = deciders;
  return { ...setup, ports, steer, decideCell, findLabel: remoteLabels.find };
};
const serverAt = (listen: readonly Listen[]): DnsServer =>
  createDnsServer({
    ...changing(),
    ...{ listen, isShared: true, rateTable, labels, clock, log, metrics },
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
  server = made;
  try {
    await made.start();
    say({ kind: "opened", addresses: made.addresses() });
  } catch (fault) {
    server = null;
    say({ kind: "failed", message: fault instanceof Error ? fault.message : String(fault) });
  }
};
const stop = async (): Promise<void> => {
  await server?.stop();
  clearInterval(batching);
  sayBatch();
  say({ kind: "stopped" });
};

/** With the epoch whose world is made of it: no query is answered between the two. */
const settle = (next: DnsSetup): void => {
  setup = next;
  geoip.relocate(setup.geo.static);
  deciders = decidersOf(setup);
  server?.prepare(changing())();
};

const hear = (message: ToThread): void => {
  switch (message.kind) {
    case "epoch":
      mirror.hearEpoch(message.epoch);
      if (message.setup !== null) settle(message.setup);
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
