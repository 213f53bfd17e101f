/** The questions that a name server of the zone is asked, all at once. */
import type { Zone } from "#gtm/domain/zone.ts";
import { type Ask, type Asked, askWhole } from "./ask.ts";
import type { Query } from "./message.ts";
import { PLAIN_OPT } from "./opt.ts";
import type { ServerAddress } from "./server-address.ts";

export type ServerAsked = {
  readonly server: ServerAddress;
  /** The name servers that are said to be there. */
  readonly names: readonly string[];
  /** SOA, without EDNS, over either transport. */
  readonly udp: Asked;
  readonly tcp: Asked;
  readonly ns: Asked;
  /** SOA with OPT of version 0, of version 1, and with an option that nobody knows. */
  readonly edns: Asked;
  readonly laterVersion: Asked;
  readonly unknownOption: Asked;
  /** A of a steered name, with a client subnet. */
  readonly subnet: Asked;
  /** By the name servers of the zone that are inside it. */
  readonly own: ReadonlyMap<string, { readonly A: Asked; readonly AAAA: Asked }>;
};

/** Of documentation (RFC 5737): nobody's clients are there. */
export const ASKED_SUBNET = "192.0.2.0/24";

export type ServerWish = {
  readonly zone: Pick<Zone, "name">;
  /** Of the zone, inside it. */
  readonly insideNames: readonly string[];
  /** A name that is answered by steering, in full. */
  readonly steeredName: string;
};

export const examineServer = async (
  ask: Ask,
  { server, names }: Pick<ServerAsked, "server" | "names">,
  { zone, insideNames, steeredName }: ServerWish,
): Promise<ServerAsked> => {
  const soa: Query = { name: zone.name, type: "SOA", opt: null };
  const over = (query: Query): Promise<Asked> => askWhole(ask, server, query);
  const [udp, tcp, ns, edns, laterVersion, unknownOption, subnet, own] = await Promise.all([
    ask(server, soa, "udp"),
    ask(server, soa, "tcp"),
    over({ ...soa, type: "NS" }),
    over({ ...soa, opt: PLAIN_OPT }),
    over({ ...soa, opt: { ...PLAIN_OPT, version: 1 } }),
    over({ ...soa, opt: { ...PLAIN_OPT, withUnknownOption: true } }),
    over({ name: steeredName, type: "A", opt: { ...PLAIN_OPT, subnet: ASKED_SUBNET } }),
    Promise.all(
      insideNames.map(async (name) => {
        const [A, AAAA] = await Promise.all([
          over({ name, type: "A", opt: null }),
          over({ name, type: "AAAA", opt: null }),
        ]);
        return [name, { A, AAAA }] as const;
      }),
    ),
  ]);
  return { server, names, udp, tcp, ns, edns, laterVersion, unknownOption, subnet, own: new Map(own) };
};
