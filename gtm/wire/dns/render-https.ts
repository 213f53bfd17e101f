/** A decision as an HTTPS record (RFC 9460): how the region is spoken to that A and AAAA lead to. */
import { type Decision, regionOf } from "#gtm/domain/decision.ts";
import type { RegionSite } from "#gtm/domain/region.ts";
import type { RegionId } from "#shared/ids.ts";
import { encodeImage } from "./codec.ts";
import type { Image } from "./image.ts";
import type { Negative } from "./negative.ts";
import { RCODE } from "./record-type.ts";
import { lastResortRegion, NO_REGION, unservedImage } from "./render.ts";
import type { Service } from "./service.ts";

/** @param family that the decision was made for */
export type RenderHttps = (decision: Decision, family: 4 | 6) => Image;

export const createRenderHttps = (regions: readonly RegionSite[], negative: Negative): RenderHttps => {
  const sites = new Map(regions.map((site) => [site.id, site]));
  const images = new Map<string, Image>();
  const serviceImage = (region: RegionId, ttlSeconds: number, error: Uint8Array | null): Image => {
    const key = `${region}|${ttlSeconds}|${error === null}`;
    const known = images.get(key);
    if (known !== undefined) return known;
    const service = serviceOf(sites.get(region));
    const made = service === null ? negative.nodata : httpsImage(service, ttlSeconds, error);
    images.set(key, made);
    return made;
  };
  return (decision, family) => {
    const { ttlSeconds } = decision;
    const region = regionOf(decision.verdict);
    if (region !== null) return serviceImage(region, ttlSeconds, null);
    if (decision.lastResort === null || decision.lastResort.kind === "servfail") return unservedImage(decision);
    const resort = lastResortRegion(decision, family, sites);
    // Of addresses that are no region's nothing is known.
    return resort === null ? negative.nodataFor(ttlSeconds, NO_REGION) : serviceImage(resort, ttlSeconds, NO_REGION);
  };
};

/** @returns null where it is not said what the region speaks */
const serviceOf = (site: RegionSite | undefined): Service | null => {
  if (site === undefined || site.alpn.length === 0) return null;
  const { alpn, endpoint } = site;
  const port = new URL(endpoint.url).port;
  return { mode: "service", alpn, port: port === "" ? 443 : Number(port), ipv4: endpoint.ipv4, ipv6: endpoint.ipv6 };
};

const httpsImage = (service: Service, ttlSeconds: number, error: Uint8Array | null): Image =>
  encodeImage({
    rcode: RCODE.NOERROR,
    isAuthoritative: true,
    error,
    answers: [{ owner: "question", ttlSeconds, data: { type: "HTTPS", service } }],
    authority: [],
    additional: [],
  });
