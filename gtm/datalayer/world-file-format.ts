/** What a world file holds: everything that a GTM needs to answer well when it starts while the store is away. */
import { z } from "zod";
import { RegionId } from "#shared/ids.ts";
import { OrdersRecord } from "#shared/records.ts";

export const WorldFile = z.looseObject({
  v: z.literal(1),
  /** Epoch ms by the clock of the host that saved it. */
  savedAtMs: z.int().positive(),
  /** Who saved it; for people. */
  instance: z.string().max(256),
  /** The newest report of every agent, and what its age was. Each is checked again like one out of the store. */
  reports: z.array(z.looseObject({ ageMs: z.number().nonnegative(), report: z.unknown() })),
  orders: OrdersRecord,
  /** DNS cells' regions, latest first. */
  cells: z.array(z.object({ cell: z.string().max(256), region: RegionId })),
});
export type WorldFile = z.infer<typeof WorldFile>;

export type WorldReading =
  | { readonly kind: "sound"; readonly file: WorldFile }
  | { readonly kind: "refused"; readonly reason: "not-json" | "version" | "schema"; readonly detail: string };

const LONGEST_DETAIL = 300;

export const worldFileText = (file: WorldFile): string => `${JSON.stringify(file)}\n`;

/** Of any text at all; never throws. */
export const worldFileOf = (text: string): WorldReading => {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return refused("not-json", "garbage, or cut short");
  }
  const version = Versioned.safeParse(raw).data?.v ?? 1;
  if (version > 1) return refused("version", `made by a later version: v is ${version}`);
  const parsed = WorldFile.safeParse(raw);
  if (parsed.success) return { kind: "sound", file: parsed.data };
  const faults = parsed.error.issues.map(({ path, message }) => `${path.map(String).join(".")}: ${message}`);
  return refused("schema", faults.join("; "));
};

const Versioned = z.looseObject({ v: z.number() });

const refused = (reason: "not-json" | "version" | "schema", detail: string): WorldReading => ({
  kind: "refused",
  reason,
  detail: detail.slice(0, LONGEST_DETAIL),
});
