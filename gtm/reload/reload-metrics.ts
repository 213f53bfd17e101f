/** The configuration as metrics: how often it was read again, what stands, and what waits. */
import type { Metrics } from "#shared/metrics.ts";

export type ReloadMetrics = {
  readonly reload: (outcome: "taken" | "unchanged" | "refused", by: string) => void;
  readonly state: (now: {
    readonly hash: string;
    /** Unix epoch. */
    readonly loadedAtMs: number;
    readonly isRefused: boolean;
    /** Keys that wait for a restart. */
    readonly pending: number;
  }) => void;
};

export const createReloadMetrics = (metrics: Metrics): ReloadMetrics => {
  const reloads = metrics.counter({
    name: "gtm_config_reloads_total",
    help: "Times the configuration's file was read again: taken, unchanged, or refused and the one before kept; by signal, file or api.",
    labels: ["outcome", "by"],
  });
  const info = metrics.gauge({
    name: "gtm_config_info",
    help: "1 for the hash of the configuration that stands, secrets left out.",
    labels: ["hash"],
  });
  const loaded = metrics.gauge({
    name: "gtm_config_loaded_timestamp_seconds",
    help: "When the configuration that stands was taken, seconds since 1970.",
  });
  const refused = metrics.gauge({
    name: "gtm_config_refused",
    help: "1 while the configuration's file cannot be used and an older one stands, else 0.",
  });
  const waiting = metrics.gauge({
    name: "gtm_config_restart_settings",
    help: "Keys of the configuration's file that wait for a restart.",
  });
  let shown: string | null = null;
  return {
    reload: (outcome, by) => reloads.inc({ outcome, by }),
    state: ({ hash, loadedAtMs, isRefused, pending }) => {
      if (shown !== null && shown !== hash) info.remove({ hash: shown });
      shown = hash;
      info.set(1, { hash });
      loaded.set(loadedAtMs / 1_000);
      refused.set(isRefused ? 1 : 0);
      waiting.set(pending);
    },
  };
};
