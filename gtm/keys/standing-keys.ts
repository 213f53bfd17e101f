/** The keys that are in force: read at start, read again when their files change, and handed to whoever mints, reads or verifies. */
import { randomBytes } from "node:crypto";
import { OperationalError } from "#shared/errors.ts";
import type { RegionId } from "#shared/ids.ts";
import { COOKIE_KEY_OCTETS, identityKeyText, reportRingsText, ringText } from "#shared/key-file-text.ts";
import { currentFirst, type KeyRing } from "#shared/key-ring.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { createLabels, ephemeralLabelKeys, type LabelKeys, type Labels } from "#shared/pin-token.ts";
import { createTicketSealer, type TicketSealer } from "#shared/ticket.ts";
import { type KeyFiles, type Keys, labelKeysOf, readableByOthers, readKeys, stampOf } from "./key-files.ts";
import { unknownRegions, unsignedRegions } from "./key-warnings.ts";

export type StandingKeys = Part & {
  /** Always with the keys of now: whoever holds it sees a rotation, and calling it touches no file. */
  readonly labels: Labels;
  /** What `labels` is made of. The same object until it changes. */
  readonly labelKeys: () => LabelKeys;
  /** Any of them may have signed a region's report; none: it may report unsigned. */
  readonly reportKeys: { readonly get: (region: RegionId) => readonly Uint8Array[] };
  /** Of DNS cookies: the first makes them, all are accepted. The same array until they change. */
  readonly cookieKeys: () => readonly Uint8Array[];
  /** With the current key of tickets; null: no such file is configured. */
  readonly ticketSealer: () => TicketSealer | null;
  /** Reads the files again; what cannot be used leaves the keys as they are, is logged and counted. */
  readonly reload: () => void;
  /** Files or regions are others now: reads, as `reload` does, and warns of what does not fit together. */
  readonly settle: () => void;
};

export type StandingKeysOptions = {
  /** Read anew each time, as are the regions: the configuration may change, but for the files of identity and signing. */
  readonly files: KeyFiles;
  /** Every configured region. */
  readonly regions: readonly RegionId[];
  readonly log: Logger;
  readonly metrics: Metrics;
};

/** How long a changed file may go unnoticed. */
export const LOOK_EVERY_MS = 5_000;

/** @throws {OperationalError} GTM_CONFIG_INVALID, GTM_CONFIG_UNREADABLE: a GTM with other keys than its neighbours' must not start */
export const createStandingKeys = (options: StandingKeysOptions): StandingKeys => {
  const { log, metrics } = options;
  const reloads = metrics.counter({
    name: "gtm_key_reloads_total",
    help: "Times the key files were read again: taken, unchanged, or refused and the keys before them kept.",
    labels: ["outcome"],
  });
  let keys = readKeys(options.files);
  const configured = labelKeysOf(keys);
  let standingLabelKeys = configured ?? ephemeralLabelKeys();
  let labels = createLabels(standingLabelKeys);
  if (configured === null) {
    log.warn("labels.ephemeral", { lost: "conversation names and pins are forgotten when this process ends" });
  }
  // Made anew with every start, so that other GTMs' cookies are strangers': their clients learn a new one.
  const ownCookieKeys = [randomBytes(COOKIE_KEY_OCTETS)];
  if (keys.cookie === null)
    log.warn("cookies.ephemeral", { lost: "DNS cookies of other GTMs, and of this one's last run" });
  let cookieKeys = cookieKeysOf(keys.cookie) ?? ownCookieKeys;
  let reportKeys = reportKeysOf(keys);
  let ticketSealer = ticketSealerOf(keys);
  let unsigned = "";

  const tell = (): void => {
    const { files, regions } = options;
    for (const file of readableByOthers(files)) log.warn("keys.readable-by-others", { file });
    for (const region of unknownRegions(keys, regions)) log.warn("keys.region-unknown", { region });
    const now = unsignedRegions(keys, regions).join(", ");
    if (now !== unsigned && now !== "") log.warn("reports.unsigned", { regions: now });
    unsigned = now;
  };
  const take = (read: Keys): "taken" | "unchanged" => {
    if (textOf(read) === textOf(keys)) return "unchanged";
    requireSameIdentity(keys, read, options.files);
    const labelKeys = labelKeysOf(read);
    if (labelKeys !== null) {
      standingLabelKeys = labelKeys;
      labels = createLabels(labelKeys);
    }
    keys = read;
    reportKeys = reportKeysOf(read);
    ticketSealer = ticketSealerOf(read);
    cookieKeys = cookieKeysOf(read.cookie) ?? ownCookieKeys;
    tell();
    const accepted = read.signing?.length ?? 0;
    log.info("keys.reloaded", { signs: labelKeys?.signingKeys[0].id ?? null, accepted });
    return "taken";
  };
  const reload = (): void => {
    try {
      reloads.inc({ outcome: take(readKeys(options.files)) });
    } catch (fault) {
      if (!(fault instanceof OperationalError)) throw fault;
      reloads.inc({ outcome: "refused" });
      log.error("keys.refused", { code: fault.code, message: fault.message });
    }
  };

  let stamp: string | null = null;
  let looking: Promise<void> = Promise.resolve();
  const look = async (): Promise<void> => {
    const now = await stampOf(options.files);
    if (now === "" && stamp === null) return;
    // The stamp comes first: what changes while it is read is read again.
    const isNew = now !== stamp;
    stamp = now;
    if (isNew) reload();
  };
  let timer: NodeJS.Timeout | undefined;
  tell();
  return {
    name: "keys",
    labels: {
      conversationIdOf: (tenant, name) => labels.conversationIdOf(tenant, name),
      mint: (label) => labels.mint(label),
      read: (text) => labels.read(text),
    },
    labelKeys: () => standingLabelKeys,
    cookieKeys: () => cookieKeys,
    ticketSealer: () => ticketSealer,
    reportKeys: { get: (region) => reportKeys.get(region) ?? [] },
    reload,
    settle: () => {
      reload();
      tell();
    },
    start: async () => {
      await look();
      timer = setInterval(() => {
        looking = looking.then(look);
      }, LOOK_EVERY_MS).unref();
    },
    stop: async () => {
      clearInterval(timer);
      await looking;
    },
  };
};

const reportKeysOf = ({ reports }: Keys): ReadonlyMap<RegionId, readonly Uint8Array[]> =>
  new Map([...(reports ?? [])].map(([region, ring]) => [region, ring.map(({ key }) => key)]));

const ticketSealerOf = ({ ticket }: Keys): TicketSealer | null => (ticket === null ? null : createTicketSealer(ticket));

const cookieKeysOf = (ring: KeyRing | null): readonly Uint8Array[] | null =>
  ring === null ? null : currentFirst(ring).map(({ key }) => key);

/** Another identity key makes every conversation a stranger at once; whoever wants that restarts. */
const requireSameIdentity = (before: Keys, read: Keys, { identity }: KeyFiles): void => {
  if (before.identity === null || read.identity === null) return;
  if (Buffer.compare(before.identity, read.identity) === 0) return;
  throw new OperationalError(
    "GTM_CONFIG_INVALID",
    `${identity}: expected the key that this process started with, found another; a restart takes it and forgets all conversations`,
  );
};

const textOf = ({ identity, signing, ticket, reports, cookie }: Keys): string =>
  [
    identity === null ? "" : identityKeyText(identity),
    ringText(signing ?? [], "signing"),
    ringText(ticket ?? [], "ticket"),
    reportRingsText(reports ?? new Map()),
    ringText(cookie ?? [], "cookie"),
  ].join("\n");
