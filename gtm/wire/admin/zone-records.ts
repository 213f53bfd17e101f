/** The records of a zone with what steered names answer now, as the GTMs ask themselves: new conversations from each region's place. */
import { z } from "@hono/zod-openapi";
import type { Pool } from "#gtm/domain/pool.ts";
import { canonicalAnswers } from "#gtm/steering/canonical.ts";
import type { AcmeListed } from "./acme-port.ts";
import type { AdminPorts } from "./ports.ts";
import { ageText } from "./quantity-text.ts";
import type { ZoneRecordFact } from "./zones-port.ts";

export const ZoneRecordView = z
  .looseObject({
    /** Without the trailing dot; `<label>` stands for any. */
    name: z.string(),
    /** `zone`, `static`, `delegated`, `front`, `region`, `pool`, `model`, `label`, `why` or `acme`. */
    kind: z.string(),
    type: z.string(),
    /** null: by the decision, from one of `ttls` of GET /zones. */
    ttlSeconds: z.number().nullable(),
    /** As zone files write them; of what is steered all that may be answered now, in no order. */
    values: z.array(z.string()),
    /** What new conversations from each region's own place are answered; null: the same for everybody, or not looked at. */
    present: z
      .array(z.looseObject({ from: z.string(), region: z.string().nullable(), values: z.array(z.string()) }))
      .nullable(),
    how: z.string().nullable(),
  })
  .openapi("ZoneRecord");
export type ZoneRecordView = z.infer<typeof ZoneRecordView>;

/** TXT of challenges (gtm/wire/dns/challenges.ts). */
const ACME_TTL_SECONDS = 1;
/** Names of a page that are decided to be shown; about a millisecond each. */
const MOST_DECIDED = 20;

export const acmeRecords = (challenges: readonly AcmeListed[], zone: string): readonly ZoneRecordFact[] =>
  challenges
    .filter(({ name }) => name.endsWith(`.${zone}`))
    .map(({ name, values }) => ({
      ...{ name, kind: "acme", type: "TXT", ttlSeconds: ACME_TTL_SECONDS, steered: null },
      values: values.map(({ value }) => `"${value}"`),
      how: `Presented: ${values.map(({ actor, expiresInMs }) => `by ${actor}, for ${ageText(expiresInMs)} more`).join("; ")}.`,
    }));

export const recordViews = (records: readonly ZoneRecordFact[], ports: AdminPorts): readonly ZoneRecordView[] => {
  const decided = new Map<string, readonly Present[]>();
  return records.map(({ steered, kind, ...record }) => {
    const present = steered === null || kind === "label" ? null : presentOf(steered, ports, decided);
    const values = present === null ? record.values : [...new Set(present.flatMap((one) => one.values))];
    return { ...record, kind, values: [...values], present: present === null ? null : [...present] };
  });
};

type Present = NonNullable<ZoneRecordView["present"]>[number];
type Steered = NonNullable<ZoneRecordFact["steered"]>;

const presentOf = (
  { pool: poolName, model, family }: Steered,
  { pools, policy, steering }: AdminPorts,
  decided: Map<string, readonly Present[]>,
): readonly Present[] | null => {
  const key = `${poolName} ${model ?? ""} ${family ?? ""}`;
  const known = decided.get(key);
  if (known !== undefined) return known;
  const pool = pools.find(({ name }) => name === poolName);
  if (pool === undefined || decided.size >= MOST_DECIDED) return null;
  const { regions } = steering.world();
  const addressesOf = (id: string | null): string[] => {
    const endpoint = regions.find((one) => one.id === id)?.endpoint;
    return endpoint === undefined || family === null ? [] : [...endpoint[family]];
  };
  const asked = narrowed(pool, model, (id) => family === null || addressesOf(id).length > 0);
  const present = canonicalAnswers([asked], steering.world(), policy).map(({ question, region }) => ({
    from: question.slice(`${pool.name} from `.length),
    region,
    values: addressesOf(region),
  }));
  decided.set(key, present);
  return present;
};

/** As DNS asks: of the model that the name says, among regions that have addresses of the family. */
const narrowed = (pool: Pool, model: string | null, isAble: (region: string) => boolean): Pool => ({
  ...pool,
  models: model === null ? pool.models : [model as Pool["models"][number]],
  regions: pool.regions.filter(isAble),
});
