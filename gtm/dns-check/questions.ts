/** What every instance has to answer alike. */
import type { Model } from "#gtm/domain/model.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { RegionSite } from "#gtm/domain/region.ts";
import { cutAbove, cutsOf, type ZoneRecord } from "#gtm/domain/zone-record.ts";
import { modelSlugs } from "#gtm/wire/dns/model-slug.ts";
import type { QueryType } from "./message.ts";

export type Question = {
  readonly name: string;
  readonly type: QueryType;
  /** Where the client is said to be; null: nobody says. */
  readonly subnet: string | null;
  /**
   * `fixed` answers are the same to the second; `steered` ones follow what the instances know, which reaches them within two
   * seconds; `telling` ones carry numbers and ages of the instance, so that only their code is compared.
   */
  readonly kind: "fixed" | "steered" | "telling";
};

export type Asked = {
  readonly zone: string;
  readonly pools: readonly Pick<Pool, "name" | "answer">[];
  readonly models: readonly Pick<Model, "id">[];
  readonly regions: readonly Pick<RegionSite, "id">[];
  /** What the owner keeps in the zone. */
  readonly records: readonly ZoneRecord[];
  readonly subnets: readonly string[];
};

/** Networks of root servers' operators in Europe, North America and Asia: real clients' addresses are nobody's business. */
export const USUAL_SUBNETS: readonly string[] = ["193.0.14.0/24", "198.41.0.0/24", "202.12.27.0/24", "2001:7fd::/48"];

export const questionsOf = ({ zone, pools, models, regions, records, subnets }: Asked): readonly Question[] => {
  const slugs = modelSlugs(models.map(({ id }) => id));
  const [first = null] = subnets;
  return [
    fixed(zone, "SOA"),
    fixed(zone, "NS"),
    ...pools.flatMap(({ name, answer }) => {
      const full = `${name}.${zone}`;
      const kind = answer === "front" ? "fixed" : "steered";
      return [
        ...subnets.flatMap((subnet) => both(full, kind, subnet)),
        { name: full, type: "HTTPS", subnet: first, kind } as const,
      ];
    }),
    ...[...slugs.values()].flatMap((slug) => both(`${slug}.m.${zone}`, "steered", first)),
    ...both(`front.${zone}`, "fixed", first),
    ...regions.flatMap(({ id }) => both(`${id}.r.${zone}`, "fixed", first)),
    ...pools.slice(0, 1).map(({ name }): Question => ({ ...fixed(`why.${name}.${zone}`, "TXT"), kind: "telling" })),
    { name: `stranger.c.${zone}`, type: "A", subnet: first, kind: "steered" },
    ...recordQuestions(records),
    fixed(`nobody-has-this-name.${zone}`, "A"),
  ];
};

/** One for all records of a name and type; of what is given to other servers, only where it begins is ours to say. */
const recordQuestions = (records: readonly ZoneRecord[]): readonly Question[] => {
  const cuts = cutsOf(records);
  const ours = records.filter(({ name, value }) =>
    cuts.has(name) ? value.type === "NS" : cutAbove(name, cuts) === null,
  );
  const sets = Map.groupBy(ours, ({ name, value }) => `${name} ${value.type}`);
  return [...sets.values()].flatMap(([first]) =>
    // A name that a wildcard stands for.
    first === undefined ? [] : [fixed(first.name.replace(/^\*\./, "any-name."), first.value.type)],
  );
};

const fixed = (name: string, type: QueryType): Question => ({ name, type, subnet: null, kind: "fixed" });

const both = (name: string, kind: Question["kind"], subnet: string | null): readonly Question[] =>
  (["A", "AAAA"] as const).map((type) => ({ name, type, subnet, kind }));

/** "chat.llm.example.com A from 193.0.14.0/24" */
export const questionText = ({ name, type, subnet }: Question): string =>
  `${name} ${type}${subnet === null ? "" : ` from ${subnet}`}`;

/** As long as resolvers send them, so that none is told apart further than real clients are. */
export const asSubnet = (cidr: string): string => {
  const [address = ""] = cidr.split("/");
  return `${address}/${address.includes(":") ? 48 : 24}`;
};
