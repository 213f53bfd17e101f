/** Reads the configuration's file again when somebody says so or it changes, and has what is sound in it taken. */
import { basename } from "node:path";
import { configJsonSchema } from "#gtm/config/config-schema.ts";
import type { SettingChange } from "#gtm/config/setting-changes.ts";
import { type References, shownSettings } from "#gtm/config/shown-settings.ts";
import type { GtmConfig } from "#gtm/config.ts";
import type { Degradations } from "#gtm/datalayer/degradations.ts";
import type { ConfigReload, ConfigurationPort, ReloadedBy } from "#gtm/wire/admin/configuration-port.ts";
import type { Clock } from "#shared/clock.ts";
import { readConfigText } from "#shared/config.ts";
import { pathOfKey, pathText } from "#shared/config-path.ts";
import { OperationalError } from "#shared/errors.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { shownStoreUrl } from "#shared/store-url.ts";
import { type Candidate, candidateOf, type Env, type Fault, type Standing } from "./candidate.ts";
import { watchFile } from "./file-watch.ts";
import { createReloadMetrics } from "./reload-metrics.ts";
import { hashOf } from "./settings-hash.ts";
import { withoutValues } from "./told-candidate.ts";

export type ConfigFile = {
  readonly path: string;
  readonly env: Env;
  /** Whether a changed file is taken without being told. */
  readonly isWatched: boolean;
};

export type ReloaderOptions = {
  /** null: the configuration came from nowhere that could change. */
  readonly file: ConfigFile | null;
  /** That the process was started with. */
  readonly config: GtmConfig;
  /** @throws {OperationalError} it cannot be used: nothing has changed */
  readonly apply: (config: GtmConfig) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly degradations: Pick<Degradations, "set">;
};

export type Reloader = Part & ConfigurationPort;

type Sound = Extract<Candidate, { kind: "sound" }>;

export const createReloader = (options: ReloaderOptions): Reloader => {
  const { file, clock, log, degradations } = options;
  const atStart = options.config.given;
  const count = createReloadMetrics(options.metrics);
  let version = 1;
  let standing = options.config;
  let loadedAtMs = clock.epochMs();
  let references: References = new Map();
  let pending: readonly SettingChange[] = [];
  let refused: { readonly sinceMs: number; readonly by: ReloadedBy; readonly faults: readonly Fault[] } | null = null;

  const now = (): Standing => ({ config: standing, references, atStart });
  const look = (): Candidate => {
    if (file === null) throw new Error("there is no file to look at");
    try {
      return candidateOf(readConfigText(file.path, "GTM_CONFIG_INVALID"), file.env, now());
    } catch (cause) {
      return { kind: "faulty", faults: [faultOf(cause)] };
    }
  };
  const tellState = (): void => {
    const hash = hashOf(shownSettings(standing.given));
    count.state({ hash, loadedAtMs, isRefused: refused !== null, pending: pending.length });
  };
  const refuse = (faults: readonly Fault[], by: ReloadedBy): ConfigReload => {
    refused = { sinceMs: refused?.sinceMs ?? clock.epochMs(), by, faults };
    const [first] = faults;
    const more = faults.length > 1 ? `, and ${faults.length - 1} more` : "";
    degradations.set("configuration", `the file cannot be used, an older one stands: ${lineOf(first)}${more}`);
    log.error("config.refused", { by, faults: faults.length, first: lineOf(first) });
    count.reload("refused", by);
    tellState();
    return { kind: "refused", faults };
  };
  const accept = (sound: Sound, by: ReloadedBy): void => {
    refused = null;
    degradations.set("configuration", null);
    references = sound.references;
    pending = sound.plan.changes.filter(({ effect }) => effect === "restart");
    for (const { at } of pending) log.warn("config.restart-needed", { setting: at });
    for (const warning of sound.plan.warnings) log.warn("config.warning", { warning });
    tellState();
    log.info("config.read", { by, version, hash: sound.plan.hash, changes: sound.plan.changes.length });
  };
  const take = (sound: Sound, by: ReloadedBy): ConfigReload => {
    const { plan, config } = sound;
    if (plan.changes.every(({ effect }) => effect === "restart")) {
      accept(sound, by);
      count.reload("unchanged", by);
      return { kind: "unchanged", plan };
    }
    try {
      options.apply(config);
    } catch (cause) {
      return refuse([faultOf(cause)], by);
    }
    version += 1;
    standing = config;
    loadedAtMs = clock.epochMs();
    accept(sound, by);
    count.reload("taken", by);
    return { kind: "taken", plan };
  };
  const reload = (by: ReloadedBy): ConfigReload => {
    if (file === null) return { kind: "no-file" };
    const candidate = look();
    return candidate.kind === "faulty" ? refuse(candidate.faults, by) : take(candidate, by);
  };
  const firstReferences = (): void => {
    const candidate = file === null ? null : look();
    if (candidate?.kind === "sound") references = candidate.references;
  };
  const watch = file?.isWatched === true ? watchFile(file.path, () => void reload("file")) : null;

  return {
    name: "configuration",
    state: () => {
      const shown = shownSettings(standing.given);
      return {
        ...{ version, loadedAtMs, pending, refused, hash: hashOf(shown) },
        source: file === null ? null : basename(file.path),
        isWatched: file?.isWatched ?? false,
        sections: Object.entries(shown).map(([name, settings]) => ({ name, hash: hashOf(settings), settings })),
        references: [...references].map(([key, from]) => ({ at: pathText(pathOfKey(key)), from: shownStoreUrl(from) })),
      };
    },
    schema: configJsonSchema,
    check: (text) => withoutValues(candidateOf(text, file?.env ?? {}, now()), text, file?.env ?? {}),
    preview: () => {
      if (file === null) return { kind: "no-file" };
      const candidate = look();
      if (candidate.kind === "faulty") return { kind: "refused", faults: candidate.faults };
      const { plan } = candidate;
      return { kind: plan.changes.every(({ effect }) => effect === "restart") ? "unchanged" : "taken", plan };
    },
    reload,
    start: async () => {
      firstReferences();
      tellState();
      await watch?.start();
    },
    stop: async () => watch?.stop(),
  };
};

const lineOf = (fault: Fault | undefined): string =>
  fault === undefined
    ? ""
    : `${fault.line === null ? "" : `line ${fault.line}: `}${fault.at === "" ? "" : `${fault.at}: `}${fault.message}`;

/** @throws whatever is a bug */
const faultOf = (cause: unknown): Fault => {
  if (!(cause instanceof OperationalError)) throw cause;
  return { line: null, column: null, at: "", message: cause.message };
};
