/** Whom a cell is decided for: not the client who happened to ask first, but its area's middle. */
import type { Client } from "#gtm/domain/client.ts";
import type { Location } from "#gtm/domain/topology.ts";

/** Areas are made by rounding to this, degrees; the difference within one is less than a millisecond. */
const AREA_DEGREES = 0.5;

/** @returns for all clients of an area that geography names the same place */
export const clientOfArea = (client: Client): Client =>
  client.source === "geo" && client.location !== null ? { ...client, location: middleOf(client.location) } : client;

const middleOf = ({ latitude, longitude }: Location): Location => ({
  latitude: rounded(latitude),
  longitude: rounded(longitude),
});

const rounded = (degrees: number): number => Math.round(degrees / AREA_DEGREES) * AREA_DEGREES;
