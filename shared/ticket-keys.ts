/**
 * Keys of tickets: one for each region, derived from the GTMs' own (HKDF, RFC 5869), so that no region can open, or make,
 * another's tickets. The region's gateways get the derived keys as a file: `region id state made key` a line.
 */
import { hkdfSync } from "node:crypto";
import { OperationalError } from "./errors.ts";
import type { RegionId } from "./ids.ts";
import { ringKeyText, ticketRingsIn } from "./key-file-text.ts";
import { currentFirst, type KeyRing, type RingKey } from "./key-ring.ts";

/** What A256GCM takes. */
const KEY_OCTETS = 32;

/** The same key for the same region wherever it is computed. */
export const ticketKeyOf = (master: Uint8Array, region: RegionId): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", master, "", `llm-gtm ticket v1 ${region}`, KEY_OCTETS));

/** The region's own ring: ids, states and times of the GTMs' keys, and its derived keys. */
export const ticketRingOf = (masters: KeyRing, region: RegionId): KeyRing =>
  masters.map((one): RingKey => ({ ...one, key: ticketKeyOf(one.key, region) }));

/** How a ticket's header names the key that sealed it: the region stands in it, so that a ticket of another is told at once. */
export const ticketKeyId = (region: RegionId, id: number): string => `${region}.${id}`;

/** By key id. @param ring derived, of `region` */
export const ticketKeysById = (ring: KeyRing, region: RegionId): ReadonlyMap<string, Uint8Array> =>
  new Map(currentFirst(ring).map(({ id, key }) => [ticketKeyId(region, id), key]));

/** @param ring derived, of `region` */
export const regionTicketKeysText = (ring: KeyRing, region: RegionId): string =>
  `# llm-gtm: keys that open the tickets of ${region}; they open no other region's\n# region id state made key\n${ring
    .map((one) => `${region} ${ringKeyText(one)}\n`)
    .join("")}`;

/**
 * @param text of the file that `gtm keys region` writes
 * @returns by key id, for createTicketOpener
 * @throws {OperationalError} GTM_CONFIG_INVALID: a line is malformed, or the keys are another region's
 */
export const regionTicketKeysIn = (text: string, source: string, region: RegionId): ReadonlyMap<string, Uint8Array> => {
  const rings = ticketRingsIn(text, source);
  const ring = rings.get(region);
  if (ring !== undefined) return ticketKeysById(ring, region);
  const found = [...rings.keys()].join(", ");
  throw new OperationalError(
    "GTM_CONFIG_INVALID",
    `${source}: expected keys of ${region}, found ${found === "" ? "none" : `those of ${found}`}; gtm keys region ${region} makes them`,
  );
};
