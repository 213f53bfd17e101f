/** Every name that the zone answers, for people: what is the same for everybody, and how the rest is decided. */
import type { ModelId, PoolName } from "#shared/ids.ts";
import { recordText } from "./record-text.ts";
import { type SteeredName, steeredNames } from "./steered-name.ts";
import type { ZoneContents } from "./zone-contents.ts";
import { type TimedData, type ZoneEntries, zoneEntries } from "./zone-entries.ts";

/**
 * `zone`: SOA, name servers; `static`: its owner's; `delegated`: another server's; `front`: the GTMs' own addresses; `region`: always
 * that one; `pool`, `model`: steered; `label`: where a conversation is at home; `why`: what was decided.
 */
export type RecordKind = "zone" | "static" | "delegated" | "front" | "region" | "pool" | "model" | "label" | "why";

export type ListedRecord = {
  /** Without the trailing dot; `<label>` stands for any. */
  readonly name: string;
  readonly kind: RecordKind;
  readonly type: string;
  /** null: by the decision. */
  readonly ttlSeconds: number | null;
  /** As zone files write them; empty where it is decided. */
  readonly values: readonly string[];
  /** Who decides; null: it is the same for everybody. */
  readonly steered: null | {
    readonly pool: PoolName;
    /** null: whatever the pool's first is. */
    readonly model: ModelId | null;
    readonly family: "ipv4" | "ipv6" | null;
  };
  /** One sentence; null: the values say it. */
  readonly how: string | null;
};

export type ListingContents = ZoneContents & { readonly hasWhy: boolean };

/** Sorted by name as DNS does, the zone's own first. */
export const zoneListing = (contents: ListingContents): readonly ListedRecord[] => {
  const { zone } = contents;
  const steered = steeredNames(contents);
  const entries = zoneEntries(contents, steered);
  const kindOf = kinds(contents, entries);
  const modelOf = new Map([...steered.ofModel].map(([id, name]) => [name.index, id]));
  const listed = [...entries.byName].flatMap(([name, entry]) => [
    ...fixedSets(name, entry.records, kindOf),
    ...(entry.steered === null
      ? []
      : steeredSets(name, entry.steered, {
          model: modelOf.get(entry.steered.index) ?? null,
          regions: contents.regions,
        })),
  ]);
  const glue = [...entries.glue].flatMap(([name, records]) => fixedSets(name, records, () => "delegated"));
  return [...listed, ...glue, ...labelSets(contents)].sort((a, b) =>
    orderOf(a, zone.name) < orderOf(b, zone.name) ? -1 : 1,
  );
};

/** RFC 4034 §6.1: from the right. */
const orderOf = ({ name, type }: ListedRecord, zone: string): string =>
  name === zone ? ` ${type === "SOA" ? " " : type}` : `${name.split(".").reverse().join(" ")} ${type}`;

type KindOf = (name: string, data: TimedData["data"]) => RecordKind;

const kinds = ({ zone, pools, regions }: ZoneContents, { cuts }: ZoneEntries): KindOf => {
  const own = new Set<unknown>(zone.records.map(({ value }) => value));
  const servers = new Set([zone.name, ...zone.ns.map(({ name }) => name)]);
  const ofRegions = new Set(regions.map(({ id }) => `${id}.r.${zone.name}`));
  const ofPools = new Set(pools.map(({ name }) => `${name}.${zone.name}`));
  return (name, data) => {
    if (cuts.has(name)) return "delegated";
    if (own.has(data)) return "static";
    if (servers.has(name)) return "zone";
    if (ofRegions.has(name)) return "region";
    return ofPools.has(name) ? "pool" : "front";
  };
};

const fixedSets = (name: string, records: readonly TimedData[], kindOf: KindOf): readonly ListedRecord[] =>
  [...Map.groupBy(records, ({ data }) => data.type)].flatMap(([type, set]) => {
    const [first] = set;
    if (first === undefined) return [];
    const values = set.map(({ data }) => recordText(data));
    return [
      { name, kind: kindOf(name, first.data), type, ttlSeconds: first.ttlSeconds, values, steered: null, how: null },
    ];
  });

type Steering = { readonly model: ModelId | null; readonly regions: ListingContents["regions"] };

const steeredSets = (name: string, steered: SteeredName, { model, regions }: Steering): readonly ListedRecord[] => {
  const kind = model === null ? ("pool" as const) : ("model" as const);
  const set = (type: string, pool: SteeredName["ipv4"], family: "ipv4" | "ipv6" | null): readonly ListedRecord[] => {
    if (pool === null) return [];
    const isAble = (id: string): boolean =>
      family === null || regions.some((one) => one.id === id && one.endpoint[family].length > 0);
    const able = pool.regions.filter(isAble);
    const how =
      able.length === 0
        ? "Only while no region serves, by the last resort: no region has such addresses."
        : `By the client's network and what regions report, one of ${able.join(", ")}.`;
    return [
      { ...{ name, kind, type, ttlSeconds: null, values: [], how }, steered: { pool: pool.name, model, family } },
    ];
  };
  return [
    ...set("A", steered.ipv4, "ipv4"),
    ...set("AAAA", steered.ipv6, "ipv6"),
    ...(steered.hasHttps ? set("HTTPS", steered.ipv4 ?? steered.ipv6, null) : []),
  ];
};

/** Names without end, each of which exists. */
const labelSets = ({ zone, defaultPool, regions, hasWhy }: ListingContents): readonly ListedRecord[] => {
  const families = (["ipv4", "ipv6"] as const).filter((one) =>
    regions.some(({ endpoint }) => endpoint[one].length > 0),
  );
  const label = { kind: "label" as const, values: [], ttlSeconds: null };
  return [
    ...families.map((family) => ({
      ...label,
      name: `<label>.c.${zone.name}`,
      type: family === "ipv4" ? "A" : "AAAA",
      steered: { pool: defaultPool.name, model: null, family },
      how: "The region that holds the conversation; of one that nobody knows, as its pool.",
    })),
    ...(hasWhy
      ? [
          {
            ...{ name: `why.<name>.${zone.name}`, kind: "why" as const, type: "TXT", ttlSeconds: 0, values: [] },
            ...{ steered: null, how: "What was decided for the name, for networks that dns.why.allow names." },
          },
        ]
      : []),
  ];
};
