/**
 * A certificate and its key, read from files and read again when they change. Connections that stand are not touched: new
 * ones get the new certificate. What is broken, or does not belong together, is told and not used.
 */
import { X509Certificate } from "node:crypto";
import { stat } from "node:fs/promises";
import { createSecureContext, type SecureContext } from "node:tls";
import type { Clock } from "./clock.ts";
import { readSecretFile } from "./config.ts";
import { OperationalError } from "./errors.ts";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";

export type TlsPaths = { readonly certFile: string; readonly keyFile: string };

export type TlsPair = {
  /** PEM, the server's own first. */
  readonly certificate: string;
  readonly key: string;
  readonly context: SecureContext;
  /** Epoch ms. */
  readonly expiresAtMs: number;
};

export type TlsFiles = {
  /** What new connections get. */
  readonly current: () => TlsPair;
  /** Looks at the files now; resolves to whether others were taken. Never rejects. */
  readonly look: () => Promise<boolean>;
  /** Hears of each certificate that was taken; who asks `current` for each connection need not. */
  readonly onTaken: (listener: () => void) => void;
  /** Ends looking. */
  readonly stop: () => void;
};

export type TlsFilesRules = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Also the longest time for which an old certificate is used. */
  readonly lookEveryMs: number;
};

const WARN_BEFORE_MS = 7 * 86_400_000;
/** A chain of ten certificates is 20 kB. */
const MOST_BYTES = 1_048_576;

/** @throws {OperationalError} GTM_CONFIG_UNREADABLE or GTM_CONFIG_INVALID: at start there is nothing older to go on with */
export const watchTlsFiles = (paths: TlsPaths, { clock, log, metrics, lookEveryMs }: TlsFilesRules): TlsFiles => {
  const reloads = metrics.counter({
    name: "gtm_tls_reloads_total",
    help: "Changed certificate files, by whether they were taken; refused ones leave the earlier certificate in use.",
    labels: ["outcome"],
  });
  const expiry = metrics.gauge({
    name: "gtm_tls_certificate_expires_timestamp_seconds",
    help: "When the certificate in use ends, seconds since the Unix epoch.",
  });
  for (const outcome of ["taken", "refused"]) reloads.inc({ outcome }, 0);

  const listeners: (() => void)[] = [];
  let loaded = load(paths);
  let stamp: string | null = null;
  let told: string | null = null;

  const use = (next: TlsPair): void => {
    loaded = next;
    expiry.set(Math.floor(next.expiresAtMs / 1_000));
    const leftMs = next.expiresAtMs - clock.epochMs();
    if (leftMs < WARN_BEFORE_MS)
      log.warn("tls.ends-soon", { certFile: paths.certFile, leftSeconds: Math.round(leftMs / 1_000) });
  };
  use(loaded);

  const lookOnce = async (): Promise<boolean> => {
    const found = await stampOf(paths);
    const isFirst = stamp === null;
    const isSame = found === stamp;
    stamp = found;
    if (isSame) return false;
    try {
      const next = load(paths);
      told = null;
      if (isFirst && next.certificate === loaded.certificate && next.key === loaded.key) return false;
      use(next);
      reloads.inc({ outcome: "taken" });
      for (const listener of listeners) listener();
      log.info("tls.reloaded", { certFile: paths.certFile, expiresAtMs: next.expiresAtMs });
      return true;
    } catch (fault) {
      const why = fault instanceof OperationalError ? fault.message : String(fault);
      reloads.inc({ outcome: "refused" });
      // Files that are written one after the other are wrong for a moment; the same fault is told once.
      if (why !== told) log.warn("tls.refused", { certFile: paths.certFile, why });
      told = why;
      return false;
    }
  };

  /** One after the other: what an earlier look found must not pass for news. */
  let looking: Promise<boolean> = Promise.resolve(false);
  const look = (): Promise<boolean> => {
    looking = looking.then(lookOnce);
    return looking;
  };

  const timer = setInterval(() => void look(), lookEveryMs);
  timer.unref();
  void look();
  return {
    current: () => loaded,
    look,
    onTaken: (listener) => void listeners.push(listener),
    stop: () => clearInterval(timer),
  };
};

/** @throws {OperationalError} naming the file, never its content */
const load = ({ certFile, keyFile }: TlsPaths): TlsPair => {
  const certificate = readSecretFile(certFile, MOST_BYTES);
  const key = readSecretFile(keyFile, MOST_BYTES);
  const leaf = parsed(
    () => new X509Certificate(certificate),
    `${certFile}: expected certificates in PEM, the server's own first`,
  );
  const context = parsed(
    () => createSecureContext({ cert: certificate, key }),
    `${keyFile}: expected the private key of the first certificate in ${certFile}, in PEM and without a passphrase`,
  );
  return { certificate, key, context, expiresAtMs: Date.parse(leaf.validTo) };
};

const parsed = <T>(make: () => T, expected: string): T => {
  try {
    return make();
  } catch (cause) {
    // OpenSSL's own words name the kind of the fault and nothing of the key.
    const found = cause instanceof Error && "code" in cause ? String(cause.code) : "something else";
    throw new OperationalError("GTM_CONFIG_INVALID", `${expected}; found ${found}`, { cause });
  }
};

const stampOf = async ({ certFile, keyFile }: TlsPaths): Promise<string> => {
  const stamps = [certFile, keyFile].map((path) =>
    stat(path, { bigint: true }).then(
      ({ ino, size, mtimeNs, ctimeNs }) => `${ino}/${size}/${mtimeNs}/${ctimeNs}`,
      (fault: NodeJS.ErrnoException) => String(fault.code),
    ),
  );
  return (await Promise.all(stamps)).join();
};
