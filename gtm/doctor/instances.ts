/** Whether the GTMs on one store are who they should be, configured alike, and answer alike. Pure. */
import { age } from "#gtm/cli/quantity.ts";
import { type Comparison, compare } from "#gtm/datalayer/agreement-compare.ts";
import type { SentRecord } from "#shared/records.ts";
import { counted, type Finding, listed, ok, problem, unknown, warning } from "./finding.ts";
import type { InstanceFact, InstanceFacts } from "./instance-facts.ts";

export type InstanceInputs = {
  readonly facts: InstanceFacts;
  /** The one that the configuration at hand is of. */
  readonly instance: string;
  /** Fingerprints of that configuration, part by part. */
  readonly config: Readonly<Record<string, string>>;
  readonly nowEpochMs: number;
  /** Epoch ms by the store's clock when the list was read; null: not known. */
  readonly listReadAtMs: number | null;
};

type Speaking = { readonly id: string; readonly last: SentRecord; readonly fact: InstanceFact };

export const instanceFindings = ({
  facts,
  instance,
  config,
  nowEpochMs,
  listReadAtMs,
}: InstanceInputs): readonly Finding[] => {
  if (facts.kind === "unknown") return [unknown("instances", `Which GTMs use this store is not known: ${facts.why}.`)];
  const speaking = facts.instances.flatMap((fact): readonly Speaking[] => {
    const last = fact.said.findLast((record) => record !== null);
    return last === undefined ? [] : [{ id: fact.id, last, fact }];
  });
  const findings = [
    ...facts.instances.flatMap((fact) => selfFindings(fact, nowEpochMs)),
    ...(listReadAtMs === null ? [] : clockFindings(speaking, listReadAtMs)),
    ...versionFindings(speaking),
    ...fileFindings(speaking, instance, config),
    ...pairs(speaking).flatMap(([here, there]) => pairFindings(here, there)),
  ];
  if (findings.length > 0) return findings;
  if (speaking.length === 0) return [unknown("instances", "No GTM uses this store now.")];
  const names = listed(speaking.map(({ id }) => id));
  return [
    ok(
      "instances",
      `${counted(speaking.length, "GTM")} on this store: ${names}${speaking.length > 1 ? "; they agree" : ""}.`,
    ),
  ];
};

const selfFindings = (fact: InstanceFact, nowEpochMs: number): readonly Finding[] => {
  const { id, said, refused, listedAtMs } = fact;
  if (refused !== null) {
    return [
      warning(
        "instance-unheard",
        `What ${id} tells the others is no record of this version (${refused}): its turns are not counted.`,
        "Run the same version everywhere, or find who else writes to gtm:v1:sent:*.",
      ),
    ];
  }
  if (isDouble(said)) {
    return [
      problem(
        "instance-double",
        `Two GTMs call themselves ${id}: each overwrites what the other says, and half of the turns are not counted.`,
        "Give each a name of its own, such as its host's: `instance:` in its configuration.",
      ),
    ];
  }
  if (said.some((record) => record !== null)) return [];
  return [
    warning(
      "instance-silent",
      `${id} was on this store ${age(nowEpochMs - listedAtMs)} ago and says nothing now.`,
      "Start it; if it was taken out of service, ten minutes after its end it is off the list.",
    ),
  ];
};

/** One that was restarted has two boots, one after the other; two processes take turns. */
const isDouble = (said: InstanceFact["said"]): boolean => {
  const boots = said.flatMap((record) => (record === null || record.boot === "" ? [] : [record.boot]));
  return boots.some((boot, at) =>
    boots.slice(at + 1).some((next, after) => next === boot && boots[at + after] !== boot),
  );
};

/** They list themselves five times a second, each by its own clock. */
const CLOCK_OFF_MS = 5_000;

const clockFindings = (speaking: readonly Speaking[], listReadAtMs: number): readonly Finding[] =>
  speaking.flatMap(({ id, fact }) => {
    const aheadMs = fact.listedAtMs - listReadAtMs;
    if (Math.abs(aheadMs) <= CLOCK_OFF_MS) return [];
    const way = aheadMs > 0 ? "ahead of" : "behind";
    return [
      warning(
        "instance-clock",
        `The clock of ${id} is ${age(Math.abs(aheadMs))} ${way} the store's: its orders end, and labels age, at another time than elsewhere.`,
        "Let NTP set its host's clock: `timedatectl set-ntp true`.",
      ),
    ];
  });

const versionFindings = (speaking: readonly Speaking[]): readonly Finding[] => {
  const versions = new Map(
    speaking.map(({ id, last }) => [id, last.version === "" ? "one that does not say" : last.version]),
  );
  return new Set(versions.values()).size < 2
    ? []
    : [
        warning(
          "instances-versions",
          `The GTMs are of different versions: ${listed([...versions].map(([id, version]) => `${id} of ${version}`))}.`,
          "End the upgrade: run the same version everywhere.",
        ),
      ];
};

/** Whether the GTM that bears the name of this file's instance runs with it. */
const fileFindings = (
  speaking: readonly Speaking[],
  instance: string,
  config: InstanceInputs["config"],
): readonly Finding[] => {
  const says = speaking.find(({ id }) => id === instance)?.last.says;
  if (says === undefined || says === null) return [];
  const parts = Object.keys(config).filter(
    (part) => says.config[part] !== undefined && says.config[part] !== config[part],
  );
  return parts.length === 0
    ? []
    : [
        warning(
          "instance-other-config",
          `${instance} runs with another configuration than this file: ${listed(parts)}.`,
          "Restart it, or name the file that it runs with in --config.",
        ),
      ];
};

const pairs = (speaking: readonly Speaking[]): readonly (readonly [Speaking, Speaking])[] =>
  speaking.flatMap((here, at) => speaking.slice(at + 1).map((there) => [here, there] as const));

const consequenceOf = (parts: readonly string[]): string =>
  parts.every((part) => part === "safety")
    ? "an order that one refuses passes at the other"
    : "they answer the same client differently";

const pairFindings = (here: Speaking, there: Speaking): readonly Finding[] => {
  const rounds = here.fact.said.map((record, at) => comparisonOf(record, there.fact.said[at] ?? null));
  const both = `${here.id} and ${there.id}`;
  const [last] = rounds.filter((one) => one !== null).slice(-1);
  if (last === undefined || last === null) return [];
  if (last.configDiffers.length > 0) {
    return [
      problem(
        "instances-config",
        `${both} are configured differently: ${listed(last.configDiffers)}; ${consequenceOf(last.configDiffers)}.`,
        "Give both the same configuration and key files, apart from `instance` and addresses; then restart them.",
      ),
    ];
  }
  // Asked at moments that are not the same, two that agree may differ once.
  const compared = rounds.filter((one) => one?.isSameState === true);
  const questions = (last.isSameState ? last.differences : []).filter(({ question }) =>
    compared.every((one) => one?.differences.some((difference) => difference.question === question) === true),
  );
  const [first] = questions;
  if (first === undefined || compared.length < LEAST_ROUNDS) return [];
  return [
    problem(
      "instances-disagree",
      `${both} answer ${counted(questions.length, "question")} differently on the same state, such as ${first.question}: ${first.here ?? "nobody"} and ${first.there ?? "nobody"}.`,
      "Ask both why (`gtm explain --server …`) and report it with both answers; restarting the younger one may help.",
    ),
  ];
};

/** Of comparable moments. */
const LEAST_ROUNDS = 2;

const comparisonOf = (here: SentRecord | null, there: SentRecord | null): Comparison | null =>
  !here?.says || !there?.says ? null : compare(here.says, there.says);
