/** The client that stands for all of whom nothing is known: the same round trip to every region. */
import type { Client } from "#gtm/domain/client.ts";

export const UNKNOWN_CLIENT: Client = {
  subnet: "0.0.0.0/0",
  location: null,
  area: null,
  place: null,
  source: "unknown",
  scopePrefixBits: 0,
};
