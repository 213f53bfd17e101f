/** A text that may become the configuration: what is wrong with it, or what it would do in the place of the one that stands. */
import { httpsWarnings } from "#gtm/config/https-warnings.ts";
import type { GtmSettings } from "#gtm/config/schema.ts";
import { changesBetween, type SettingChange } from "#gtm/config/setting-changes.ts";
import { settingsTaken } from "#gtm/config/settings-at-start.ts";
import { type References, shownReferences, shownSettings } from "#gtm/config/shown-settings.ts";
import { ticketWarnings } from "#gtm/config/ticket-warnings.ts";
import { servedSerial } from "#gtm/config/zone-serial.ts";
import { configOf, faultsBetween, type GtmConfig, readGtmSettings } from "#gtm/config.ts";
import { pathText } from "#shared/config-path.ts";
import { hashOf } from "./settings-hash.ts";

export type Fault = {
  /** From 1; null: it is about no line. */
  readonly line: number | null;
  readonly column: number | null;
  readonly at: string;
  readonly message: string;
};

export type Plan = {
  readonly hash: string;
  readonly changes: readonly SettingChange[];
  readonly pools: readonly {
    readonly pool: string;
    readonly regionsLost: readonly string[];
    readonly regionsGained: readonly string[];
  }[];
  readonly serial: number;
  readonly warnings: readonly string[];
};

export type Candidate =
  | { readonly kind: "faulty"; readonly faults: readonly Fault[] }
  | {
      readonly kind: "sound";
      /** As the text has them. */
      readonly file: GtmSettings;
      /** What would stand: without what waits for a restart. */
      readonly config: GtmConfig;
      readonly references: References;
      readonly plan: Plan;
    };

export type Env = Readonly<Record<string, string | undefined>>;

export type Standing = {
  readonly config: GtmConfig;
  /** Of its file. */
  readonly references: References;
  /** What the process was started with. */
  readonly atStart: GtmSettings;
};

export const candidateOf = (text: string, env: Env, { config: standing, references, atStart }: Standing): Candidate => {
  const read = readGtmSettings(text, env);
  if (read.kind === "faulty") {
    const faults = read.faults.map(({ path, ...fault }) => ({ ...fault, at: pathText(path) }));
    return { kind: "faulty", faults };
  }
  const taken = settingsTaken(read.value, atStart);
  const faults = faultsBetween(taken);
  if (faults.length > 0)
    return { kind: "faulty", faults: faults.map(({ path, message }) => needsRestart(pathText(path), message)) };
  const config = withSerial(configOf(taken), standing);
  const plan: Plan = {
    hash: hashOf(shownSettings(taken)),
    changes: changesBetween(shownReferences(standing.given, references), shownReferences(read.value, read.references)),
    pools: poolChanges(standing, config),
    serial: config.dns.zone.soa.serial,
    warnings: [
      ...httpsWarnings(config.pools, config.sites),
      ...ticketWarnings(config.pools, config.sites),
      ...serialWarning(config),
    ],
  };
  return { kind: "sound", file: read.value, config, references: read.references, plan };
};

/** Each is sound by itself: what stays until a restart and what could be taken now do not fit together. */
const needsRestart = (at: string, message: string): Fault => ({
  ...{ line: null, column: null, at },
  message: `${message} (with what waits for a restart: restart with this file instead)`,
});

const withSerial = (config: GtmConfig, standing: GtmConfig): GtmConfig => {
  const { zone } = config.dns;
  const serial = servedSerial(standing, config);
  return { ...config, dns: { ...config.dns, zone: { ...zone, soa: { ...zone.soa, serial } } } };
};

const serialWarning = ({ dns, given }: GtmConfig): readonly string[] =>
  dns.zone.soa.serial === given.dns.soa.serial
    ? []
    : [
        `dns.soa.serial is ${given.dns.soa.serial} in the file and ${dns.zone.soa.serial} is served: raise it above that with the next change`,
      ];

const poolChanges = (before: GtmConfig, after: GtmConfig): Plan["pools"] => {
  const regionsOf = ({ pools }: GtmConfig, name: string): readonly string[] =>
    pools.find((pool) => pool.name === name)?.regions ?? [];
  const names = new Set([...before.pools, ...after.pools].map(({ name }) => name));
  return [...names].flatMap((pool) => {
    const [had, has] = [regionsOf(before, pool), regionsOf(after, pool)];
    const regionsLost = had.filter((id) => !has.includes(id));
    const regionsGained = has.filter((id) => !had.includes(id));
    return regionsLost.length + regionsGained.length === 0 ? [] : [{ pool, regionsLost, regionsGained }];
  });
};
