/** Records of the zone as the configuration writes them: one entry a record, names whole. */
import { isIPv4, isIPv6 } from "node:net";
import { z } from "zod";
import type { RecordValue, ZoneRecord } from "#gtm/domain/zone-record.ts";
import { duration } from "#shared/units.ts";

/** In lower case, without the dot at the end; zoneRecordsFaults says the rest. */
const name = z.string().min(1).max(253);
const u16 = z.int().min(0).max(0xffff);
const owned = { name, ttl: duration.default(300_000) };

/** A zone index ("fe80::1%eth0") means nothing to others. */
const isShareable = (text: string): boolean => isIPv6(text) && !text.includes("%");

export const RecordSettings = z.discriminatedUnion("type", [
  z.strictObject({
    ...owned,
    type: z.literal("A"),
    address: z.string().refine(isIPv4, "must be an IPv4 address"),
  }),
  z.strictObject({
    ...owned,
    type: z.literal("AAAA"),
    address: z.string().refine(isShareable, "must be an IPv6 address"),
  }),
  z.strictObject({ ...owned, type: z.literal("CNAME"), target: name }),
  z.strictObject({ ...owned, type: z.literal("TXT"), texts: z.array(z.string().max(16_384)).min(1).max(256) }),
  z.strictObject({ ...owned, type: z.literal("MX"), preference: u16, exchange: name }),
  z.strictObject({
    ...owned,
    type: z.literal("CAA"),
    flags: z.int().min(0).max(255).default(0),
    tag: z.string().regex(/^[a-z0-9]{1,15}$/, "must be a property such as issue, issuewild or iodef"),
    value: z.string().regex(/^[\x20-\x7e]{0,1024}$/, "must be printable ASCII"),
  }),
  z.strictObject({
    ...owned,
    type: z.literal("SRV"),
    priority: u16,
    weight: u16,
    port: u16,
    target: name,
  }),
  z.strictObject({ ...owned, type: z.literal("NS"), host: name }),
]);
export type RecordSettings = z.output<typeof RecordSettings>;

export const recordOf = ({ name, ttl, ...value }: RecordSettings): ZoneRecord => ({
  name,
  ttlSeconds: ttl / 1_000,
  value: value satisfies RecordValue,
});
