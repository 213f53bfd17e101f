/** The gateway's keys: of labels, as the GTMs have them, of its region's tickets, and of what it signs. Read at start, and again when their files change. */
import { statSync } from "node:fs";
import { readSecretFile } from "#shared/config.ts";
import { OperationalError } from "#shared/errors.ts";
import { identityKeyIn, ringIn } from "#shared/key-file-text.ts";
import { currentFirst } from "#shared/key-ring.ts";
import { keyIn, LEAST_KEY_OCTETS } from "#shared/key-text.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { createLabels, ephemeralLabelKeys, type Labels } from "#shared/pin-token.ts";
import { createTicketOpener, type TicketOpener } from "#shared/ticket.ts";
import { regionTicketKeysIn } from "#shared/ticket-keys.ts";
import type { RememberTicket } from "#shared/ticket-memory.ts";
import type { GatewayConfig } from "./config.ts";

export type GatewayKeys = {
  /** Always those of now. */
  readonly labels: Labels;
  /** null: no keys of tickets are configured. */
  readonly opener: () => TicketOpener | null;
  /** Signs what was measured; null: none is configured. */
  readonly reportKey: () => Uint8Array | null;
  /** Looks at the files now. */
  readonly look: () => void;
  readonly stop: () => void;
};

const MOST_BYTES = 262_144;
const LOOK_EVERY_MS = 5_000;

type Loaded = {
  readonly labels: Labels;
  readonly opener: TicketOpener | null;
  readonly reportKey: Uint8Array | null;
};

/** @throws {OperationalError} GTM_CONFIG_INVALID or GTM_CONFIG_UNREADABLE: at start there are no older keys to go on with */
export const watchGatewayKeys = (
  { keys, region }: Pick<GatewayConfig, "keys" | "region">,
  {
    log,
    metrics,
    remember,
  }: {
    readonly log: Logger;
    readonly metrics: Metrics;
    /** Outlives the keys: a ticket that was used stays used. */
    readonly remember: RememberTicket;
  },
): GatewayKeys => {
  const paths = [keys.identity_file, keys.signing_file, keys.ticket_file, keys.report_file].filter(
    (path) => path !== null,
  );
  const reloads = metrics.counter({
    name: "gtm_gateway_key_reloads_total",
    help: "Changed key files, by whether they were taken; refused ones leave the earlier keys in use.",
    labels: ["outcome"],
  });
  for (const outcome of ["taken", "refused"]) reloads.inc({ outcome }, 0);
  const own = keys.identity_file === null ? createLabels(ephemeralLabelKeys()) : null;
  if (own !== null) log.warn("labels.ephemeral", { lost: "labels and pins of the GTMs are strangers to this gateway" });
  if (keys.ticket_file === null)
    log.warn("tickets.unopened", { lost: "redirects to this region lose the client's key" });
  if (keys.report_file === null)
    log.warn("turns.unsigned", { lost: "GTMs that have a report key of this region believe nothing measured here" });

  const load = (): Loaded => ({
    labels: own ?? labelsIn(keys.identity_file ?? "", keys.signing_file ?? ""),
    opener:
      keys.ticket_file === null
        ? null
        : createTicketOpener({
            region,
            memory: { remember },
            keys: regionTicketKeysIn(textIn(keys.ticket_file), keys.ticket_file, region),
          }),
    reportKey: keys.report_file === null ? null : reportKeyIn(keys.report_file),
  });
  let stamp = stampOf(paths);
  let loaded = load();

  const look = (): void => {
    const found = stampOf(paths);
    if (found === stamp) return;
    stamp = found;
    try {
      loaded = load();
      reloads.inc({ outcome: "taken" });
      log.info("keys.reloaded", { region });
    } catch (fault) {
      if (!(fault instanceof OperationalError)) throw fault;
      reloads.inc({ outcome: "refused" });
      log.warn("keys.refused", { region, code: fault.code, why: fault.message });
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return {
    labels: {
      conversationIdOf: (tenant, name) => loaded.labels.conversationIdOf(tenant, name),
      mint: (label) => loaded.labels.mint(label),
      read: (text) => loaded.labels.read(text),
    },
    opener: () => loaded.opener,
    reportKey: () => loaded.reportKey,
    look,
    stop: () => clearInterval(timer),
  };
};

const textIn = (path: string): string => readSecretFile(path, MOST_BYTES);

const reportKeyIn = (path: string): Uint8Array => {
  const key = keyIn(textIn(path));
  if (key !== null) return key;
  throw new OperationalError(
    "GTM_CONFIG_INVALID",
    `${path}: expected a report key, at least ${LEAST_KEY_OCTETS} octets in base64`,
  );
};

const labelsIn = (identityFile: string, signingFile: string): Labels => {
  const identityKey = identityKeyIn(textIn(identityFile), identityFile);
  const [first, ...others] = currentFirst(ringIn(textIn(signingFile), signingFile));
  return createLabels({ identityKey, signingKeys: [first, ...others] });
};

const stampOf = (paths: readonly string[]): string =>
  paths
    .map((path) => {
      const found = statSync(path, { bigint: true, throwIfNoEntry: false });
      return found === undefined ? "none" : `${found.ino}/${found.size}/${found.mtimeNs}/${found.ctimeNs}`;
    })
    .join();
