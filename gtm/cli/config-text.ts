/** The configuration as tables: what stands, what differs, what is wrong with a file. */
import type { ConfigFault, ConfigOutcome, ConfigPlanView, ConfigView } from "#gtm/wire/admin/config-view.ts";
import type { Instances } from "#gtm/wire/admin/routes/instances.ts";
import type { Cell } from "./cell.ts";
import { age, UNKNOWN } from "./quantity.ts";
import { facts, table } from "./table.ts";

type ChangeView = ConfigPlanView["changes"][number];

export const configText = (config: ConfigView, wanted: string | null, isColourful: boolean): string => {
  const sections = config.sections.filter(({ name }) => wanted === null || name === wanted);
  return [
    facts([
      ["instance", config.instance],
      ["file", config.source ?? "none: it was started without"],
      ["taken", `${age(config.loadedAgeMs)} ago, version ${config.version}, hash ${config.hash}`],
      ["watched", config.isWatched ? "yes: a changed file is taken by itself" : "no: gtm config reload, or SIGHUP"],
    ]),
    refusedText(config, isColourful),
    config.pending.length === 0 ? "" : `\nWaits for a restart:\n${changeTable(config.pending, isColourful)}`,
    "\n",
    table(
      [{ header: "SECTION" }, { header: "HASH" }],
      sections.map(({ name, hash }) => [name, hash]),
      isColourful,
    ),
    ...(wanted === null
      ? []
      : sections.map(({ name, settings }) => `\n${name}:\n${JSON.stringify(settings, null, 2)}\n`)),
    config.references.length === 0
      ? ""
      : `\nFrom the environment: ${config.references.map(({ at, from }) => `${at} ${from}`).join(", ")}\n`,
  ].join("");
};

const refusedText = ({ refused }: ConfigView, isColourful: boolean): string =>
  refused === null
    ? ""
    : `\nThe file is refused since ${age(refused.ageMs)}; what is shown here stands:\n${faultTable(refused.faults, isColourful)}`;

export const faultTable = (faults: readonly ConfigFault[], isColourful: boolean): string =>
  table(
    [{ header: "LINE", align: "right" }, { header: "AT" }, { header: "WHAT IS WRONG" }],
    faults.map(({ line, at, message }) => [
      line === null ? UNKNOWN : String(line),
      at === "" ? UNKNOWN : at,
      { text: message, colour: "red" },
    ]),
    isColourful,
  );

export const outcomeText = (outcome: ConfigOutcome, isColourful: boolean): string => {
  const { plan, faults } = outcome;
  if (plan === null) return faultTable(faults, isColourful);
  const lost = plan.pools.map(
    ({ pool, regionsLost, regionsGained }) =>
      `pool ${pool}: ${[
        ...(regionsLost.length === 0 ? [] : [`loses ${regionsLost.join(", ")}`]),
        ...(regionsGained.length === 0 ? [] : [`gains ${regionsGained.join(", ")}`]),
      ].join(", ")}\n`,
  );
  return [
    plan.changes.length === 0 ? "Nothing differs.\n" : changeTable(plan.changes, isColourful),
    ...lost,
    ...plan.warnings.map((warning) => `warning: ${warning}\n`),
    plan.restartNeeded ? "What waits for a restart stays as it is until then; the rest is taken.\n" : "",
  ].join("");
};

const changeTable = (changes: readonly ChangeView[], isColourful: boolean): string =>
  table(
    [{ header: "SETTING" }, { header: "RUNNING" }, { header: "FILE" }, { header: "TAKES EFFECT" }],
    changes.map(({ at, kind, running, file, effect }): Cell[] => [
      at,
      kind === "added" ? UNKNOWN : valueText(running),
      kind === "removed" ? UNKNOWN : valueText(file),
      effect === "restart" ? { text: "at a restart", colour: "yellow" } : "at once",
    ]),
    isColourful,
  );

const LONGEST = 60;

const valueText = (value: unknown): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
};

/** Which parts of the configuration are not alike, GTM by GTM. */
export const instanceDiffText = ({ others }: Instances, isColourful: boolean): string =>
  others.length === 0
    ? "No other GTM is seen on the store.\n"
    : table(
        [{ header: "INSTANCE" }, { header: "SEEN" }, { header: "DIFFERS IN" }],
        others.map(({ instance, lastSeenMsAgo, configDiffers }): Cell[] => [
          instance,
          `${age(lastSeenMsAgo)} ago`,
          configDiffers.length === 0
            ? { text: "nothing", colour: "green" }
            : { text: configDiffers.join(", "), colour: "red" },
        ]),
        isColourful,
      );
