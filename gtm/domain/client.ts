/** Who asks, as coarsely as steering needs: a network and a place, never an address. */
import type { Location } from "./topology.ts";

export type Client = {
  /** CIDR, at most /24 or /48. */
  readonly subnet: string;
  /** null: nothing is known of where this network is. */
  readonly location: Location | null;
  /**
   * What cells are made of: an operator's own name for the subnet, else the location rounded to half a degree
   * ("50.0,8.5"), else null.
   */
  readonly area: string | null;
  /** For people: a country code or the operator's name for the subnet; null when unknown. */
  readonly place: string | null;
  readonly source: "static" | "geo" | "unknown";
  /**
   * Length in bits of the shortest prefix that contains the subnet and lies wholly in the range the location came from,
   * 0 to 24 (IPv4) or 48 (IPv6): for whom a DNS answer holds.
   */
  readonly scopePrefixBits: number;
};
