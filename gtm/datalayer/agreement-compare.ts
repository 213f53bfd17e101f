/** Two GTMs' word on the same state, laid side by side. */
import type { RegionId } from "#shared/ids.ts";
import type { InstanceSays } from "#shared/records.ts";

export type Difference = {
  readonly question: string;
  /** null: no region serves. */
  readonly here: RegionId | null;
  readonly there: RegionId | null;
};

export type Comparison = {
  /** Parts of the configuration that are not the same; then answers may differ and are not compared. */
  readonly configDiffers: readonly string[];
  /** Whether both rest on the same: configuration, orders, agents, and reports of about the same moment. */
  readonly isSameState: boolean;
  /** None where the state is not the same. */
  readonly differences: readonly Difference[];
};

/** Each is heard of up to a second late, and an agent reports once a second. */
const MOST_REPORTS_APART = 2;

/** GTMs that differ in these answer alike. */
const DECIDES_NOTHING: ReadonlySet<string> = new Set(["safety"]);

/** What an earlier version does not tell of is not held against it, where no answer comes of it. */
const isOther = (part: string, { config: here }: InstanceSays, { config: there }: InstanceSays): boolean =>
  here[part] !== there[part] && !(DECIDES_NOTHING.has(part) && (here[part] === undefined || there[part] === undefined));

export const compare = (here: InstanceSays, there: InstanceSays): Comparison => {
  const parts = new Set([...Object.keys(here.config), ...Object.keys(there.config)]);
  const configDiffers = [...parts].filter((part) => isOther(part, here, there)).toSorted();
  const isSameState =
    configDiffers.every((part) => DECIDES_NOTHING.has(part)) &&
    here.ordersRev === there.ordersRev &&
    !here.areAgesFrozen &&
    !there.areAgesFrozen &&
    haveHeardTheSame(here, there);
  return { configDiffers, isSameState, differences: isSameState ? differencesOf(here, there) : [] };
};

const haveHeardTheSame = (here: InstanceSays, there: InstanceSays): boolean => {
  const heard = new Map(there.reports.map(([agent, boot, seq]) => [agent, { boot, seq }]));
  if (heard.size !== here.reports.length) return false;
  return here.reports.every(([agent, boot, seq]) => {
    const other = heard.get(agent);
    return other?.boot === boot && Math.abs(other.seq - seq) <= MOST_REPORTS_APART;
  });
};

const differencesOf = (here: InstanceSays, there: InstanceSays): readonly Difference[] => {
  const answers = new Map(there.answers);
  return here.answers.flatMap(([question, region]) => {
    const other = answers.get(question);
    return other === undefined || other === region ? [] : [{ question, here: region, there: other }];
  });
};
