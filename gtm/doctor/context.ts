/** What subjects look at, each part read once and when it is first asked for. */
import type { GtmConfig } from "#gtm/config.ts";
import { type Keys, readKeys } from "#gtm/keys/key-files.ts";
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";
import type { Store } from "#shared/store.ts";
import { openStore } from "#shared/store-open.ts";
import { readStoreFacts, type StoreFacts } from "#shared/store-redis-facts.ts";
import { type RegionAgents, readRegionAgents } from "./agent-facts.ts";
import { gtmProbes } from "./probes.ts";
import type { Running } from "./running.ts";
import { readWorldFileFacts, type WorldFileFacts } from "./world-file-facts.ts";

export type DoctorContext = {
  readonly config: GtmConfig;
  readonly clock: Clock;
  readonly storeFacts: () => Promise<StoreFacts>;
  /** A sentence's end: why nothing can be read from it. */
  readonly store: () => Promise<Store | string>;
  /** A fault: they cannot be used. */
  readonly keys: () => Keys | OperationalError;
  readonly running: () => Promise<Running>;
  /** Whether somebody named the GTM to look at. */
  readonly isGtmAskedFor: boolean;
  /** As `store`. */
  readonly agents: () => Promise<readonly RegionAgents[] | string>;
  /** null: none is configured. */
  readonly worldFile: () => Promise<WorldFileFacts | null>;
  /** Rests, between questions that are asked several times. */
  readonly pause: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type ContextOptions = {
  readonly config: GtmConfig;
  readonly clock: Clock;
  /** Asks the running GTM for its status. Never rejects. */
  readonly askRunning: () => Promise<Running>;
  readonly isGtmAskedFor: boolean;
  readonly pause: () => Promise<void>;
};

/** Long enough for a step of TLS over an ocean; a server that hangs is asked twice at most. */
const QUESTION_DEADLINE_MS = 1_000;

export const createContext = (options: ContextOptions): DoctorContext => {
  const { config, clock } = options;
  const [site] = config.sites;
  if (site === undefined) throw new Error("a configuration without regions: its schema refuses it");
  let opened: Store | null = null;
  let isClosed = false;

  const storeFacts = once(() =>
    readStoreFacts(config.store, { clock, deadlineMs: QUESTION_DEADLINE_MS, probes: gtmProbes(site.id) }),
  );
  const store = once(async (): Promise<Store | string> => {
    const facts = await storeFacts();
    if (facts.kind === "memory") return "it is in the memory of the GTM's process";
    if (facts.away !== null) return "the store is away";
    // Known too late for whoever asked: what is opened now would never be closed.
    if (isClosed) return "the store answered too late";
    const deadline = Math.min(config.store.deadline, QUESTION_DEADLINE_MS);
    opened = openStore({ ...config.store, deadline }, { clock, log: SILENT_LOG, name: "gtm-doctor" });
    return opened;
  });
  const keys = once((): Keys | OperationalError => {
    try {
      return readKeys(config.keys);
    } catch (fault) {
      if (fault instanceof OperationalError) return fault;
      throw fault;
    }
  });
  const agents = once(async (): Promise<readonly RegionAgents[] | string> => {
    const there = await store();
    const known = keys();
    if (typeof there === "string") return there;
    const rings = known instanceof OperationalError ? null : known.reports;
    const reportKeys = { get: (region: (typeof site)["id"]) => (rings?.get(region) ?? []).map(({ key }) => key) };
    return Promise.all(config.sites.map(({ id }) => readRegionAgents(there, id, reportKeys)));
  });
  const { world_file: worldFile } = config.store;
  return {
    ...{ config, clock, storeFacts, store, keys, agents },
    running: once(options.askRunning),
    isGtmAskedFor: options.isGtmAskedFor,
    worldFile: once(async () => (worldFile === null ? null : readWorldFileFacts(worldFile))),
    pause: options.pause,
    close: async () => {
      isClosed = true;
      await opened?.close();
    },
  };
};

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

/** What goes wrong is a finding. */
const SILENT_LOG: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
