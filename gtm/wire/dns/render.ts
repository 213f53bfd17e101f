/** A decision as a DNS answer: the addresses of a region, of the pool's last resort, or a no. */
import type { Decision } from "#gtm/domain/decision.ts";
import { regionOf } from "#gtm/domain/decision.ts";
import type { RegionSite } from "#gtm/domain/region.ts";
import type { RegionId } from "#shared/ids.ts";
import { emptyImage, encodeImage } from "./codec.ts";
import { encodeExtendedError } from "./edns.ts";
import type { Image } from "./image.ts";
import type { Negative } from "./negative.ts";
import { RCODE } from "./record-type.ts";
import type { Addresses } from "./zone-contents.ts";

export type Rendered = {
  readonly image: Image;
  /** Whether another client might have got another answer; where not, it holds for everybody (RFC 7871 §7.4). */
  readonly isTailored: boolean;
};

/** @param mostTtlSeconds the decision's own TTL where that is shorter */
export type Render = (decision: Decision, family: 4 | 6, mostTtlSeconds?: number) => Rendered;

export const NO_REGION = encodeExtendedError("no-reachable-authority", "no region can serve");
const NOT_ALLOWED = encodeExtendedError("prohibited", "data residency leaves no region");

export const createRender = (regions: readonly RegionSite[], negative: Negative): Render => {
  const sites: Sites = new Map(regions.map((site) => [site.id, site]));
  // What a region answers does not depend on who asks: a handful of images serves all cells.
  const images = new Map<string, Image>();
  const regionImage = (region: RegionId, family: 4 | 6, ttlSeconds: number): Image => {
    const key = `${region}|${family}|${ttlSeconds}`;
    const known = images.get(key);
    if (known !== undefined) return known;
    const made = addressImage(addressesOf(sites, region, family), ttlSeconds, null) ?? negative.nodata;
    images.set(key, made);
    return made;
  };
  const lastResort = (decision: Decision, family: 4 | 6, ttlSeconds: number): Image => {
    const addresses = lastResortAddresses(decision, family, sites);
    if (addresses === null) return unservedImage(decision);
    return addressImage(addresses, ttlSeconds, NO_REGION) ?? negative.nodataFor(ttlSeconds, NO_REGION);
  };
  return (decision, family, mostTtlSeconds = decision.ttlSeconds) => {
    const ttlSeconds = Math.min(decision.ttlSeconds, mostTtlSeconds);
    const region = regionOf(decision.verdict);
    if (region === null) return { image: lastResort(decision, family, ttlSeconds), isTailored: false };
    const image = regionImage(region, family, ttlSeconds);
    return { image, isTailored: image.answerCount > 0 };
  };
};

type Sites = ReadonlyMap<RegionId, Pick<RegionSite, "endpoint">>;

const addressesOf = (sites: Sites, region: RegionId | null, family: 4 | 6): readonly string[] =>
  inFamily((region === null ? undefined : sites.get(region)?.endpoint) ?? { ipv4: [], ipv6: [] }, family);

const inFamily = ({ ipv4, ipv6 }: Addresses, family: 4 | 6): readonly string[] => (family === 4 ? ipv4 : ipv6);

/** The first of the last resort's regions that has the family; null: none has, or it is something else than regions. */
export const lastResortRegion = ({ lastResort }: Decision, family: 4 | 6, sites: Sites): RegionId | null =>
  lastResort?.kind === "regions"
    ? (lastResort.order.find((id) => addressesOf(sites, id, family).length > 0) ?? null)
    : null;

/** What is said where neither a region nor a last resort is left. */
export const unservedImage = (decision: Decision): Image =>
  emptyImage(RCODE.SERVFAIL, false, isForbidden(decision) ? NOT_ALLOWED : NO_REGION);

/** @returns none: NODATA; null: SERVFAIL */
const lastResortAddresses = (decision: Decision, family: 4 | 6, sites: Sites): readonly string[] | null => {
  const { lastResort } = decision;
  if (lastResort === null) return null;
  switch (lastResort.kind) {
    case "regions":
      return addressesOf(sites, lastResortRegion(decision, family, sites), family);
    case "addresses":
      return inFamily(lastResort, family);
    case "nodata":
      return [];
    case "servfail":
      return null;
  }
};

/** The pool has a last resort, and where its data may go leaves nothing of it. */
const isForbidden = ({ turn, lastResort }: Decision): boolean =>
  turn.pool.lastResort.kind === "regions" && lastResort?.kind === "servfail";

/** @returns null where there are no addresses; all of one family */
const addressImage = (addresses: readonly string[], ttlSeconds: number, error: Uint8Array | null): Image | null => {
  if (addresses.length === 0) return null;
  const answers = addresses.map((address) => ({
    owner: "question" as const,
    ttlSeconds,
    data: { type: address.includes(":") ? ("AAAA" as const) : ("A" as const), address },
  }));
  return encodeImage({ rcode: RCODE.NOERROR, isAuthoritative: true, error, answers, authority: [], additional: [] });
};
