/** What a sound query is answered with: the image, and for whom it holds. */
import type { Clock } from "#shared/clock.ts";
import type { PoolName } from "#shared/ids.ts";
import type { Authority, Subject, Target } from "./authority.ts";
import type { Cells, StandingCell } from "./cells.ts";
import type { ChallengeAnswers } from "./challenges.ts";
import type { DnsQuery } from "./dns-query.ts";
import type { DnsReply, Image } from "./image.ts";
import type { LabelAnswers, Labelled, StandingLabel } from "./labels.ts";
import { type Negative, REFUSALS } from "./negative.ts";
import type { Places } from "./places.ts";
import { prefixText, sourcePrefix } from "./prefix.ts";
import { CLASS, TYPE } from "./record-type.ts";
import type { SteeredName } from "./steered-name.ts";
import type { Transport } from "./tally.ts";
import { decisionTexts, degradedTexts, FIXED_TEXTS, type WhyAccess, type WhyDegraded, whyImage } from "./why.ts";
import { ANY_ANSWER, type ZoneName } from "./zone-names.ts";

export type ResolveOptions = {
  readonly authority: Authority;
  readonly places: Places;
  readonly cells: Cells;
  readonly labels: LabelAnswers;
  readonly negative: Negative;
  readonly challenges: ChallengeAnswers;
  readonly steeredByPool: ReadonlyMap<PoolName, SteeredName>;
  readonly why: WhyAccess;
  readonly degraded: () => WhyDegraded;
  readonly clock: Pick<Clock, "monotonicMs">;
};

/** What has to be waited for: then resolve again with what the promise brings. `overload`: do not answer. */
export type Wait = Promise<StandingLabel> | "overload";

/**
 * @param reply its scope is set: null where the reply does not speak of the client's subnet
 * @param found what the promise brought; null at first
 */
export type Resolve = (query: DnsQuery, reply: DnsReply, found: StandingLabel | null) => Image | Wait;

export const createResolve = (options: ResolveOptions, transport: Transport): Resolve => {
  const { authority, places, cells, labels, negative, steeredByPool, why, clock } = options;

  const give = (standing: StandingCell, image: Image, reply: DnsReply): Image => {
    standing.answered.value += 1;
    reply.isDecided = true;
    if (standing.isTailored) reply.scopeBits = places.scopeBits();
    return image;
  };

  const known = (query: DnsQuery, reply: DnsReply, { fixed, other, steered }: ZoneName): Image => {
    if (steered !== null) {
      if (isAddressType(query.type)) {
        const standing = places.find(query, steered, familyOf(query));
        return standing === null ? negative.nodata : give(standing, standing.image, reply);
      }
      if (query.type === TYPE.HTTPS && steered.hasHttps) return https(query, reply, steered);
    }
    return fixed.get(query.type) ?? other ?? negative.nodata;
  };

  /** Of the region that A leads to, or AAAA where the name has no A. */
  const https = (query: DnsQuery, reply: DnsReply, name: SteeredName): Image => {
    const standing = places.find(query, name, firstFamily(name));
    return standing === null ? negative.nodata : give(standing, cells.https(standing), reply);
  };

  const lookedUp = (query: DnsQuery, of: Labelled, found: StandingLabel | null): StandingLabel | Wait =>
    found ?? labels.standing(of) ?? labels.lookUp(of.label, prefixText(sourcePrefix(query.peer))) ?? "overload";

  const conversation = (query: DnsQuery, reply: DnsReply, label: StandingLabel): Image => {
    // A conversation with a home does not depend on who asks: scope 0.
    if (label.kind === "home") {
      reply.isDecided = true;
      return (familyOf(query) === 4 ? label.ipv4 : label.ipv6).image;
    }
    const name = steeredByPool.get(label.pool);
    const standing = name === undefined ? null : places.find(query, name, familyOf(query));
    return standing === null ? negative.nodata : give(standing, cells.brief(standing), reply);
  };

  /** A cell's decision is told for IPv4 where there is one: names rarely have IPv6 only. */
  const cellTexts = (query: DnsQuery, name: SteeredName | null): readonly string[] => {
    const standing = name === null ? null : places.find(query, name, firstFamily(name));
    return standing === null ? FIXED_TEXTS : decisionTexts(standing.decision, clock.monotonicMs());
  };
  const labelTexts = (query: DnsQuery, label: StandingLabel): readonly string[] =>
    label.kind === "home"
      ? decisionTexts(label.decision, clock.monotonicMs())
      : cellTexts(query, steeredByPool.get(label.pool) ?? null);

  const whyTexts = (texts: readonly string[]): Image => whyImage([...texts, ...degradedTexts(options.degraded())]);

  const inquiry = (query: DnsQuery, of: Subject, found: StandingLabel | null): Image | Wait => {
    if (!why.allows(query.peer)) return REFUSALS.prohibited;
    if (query.type !== TYPE.TXT) return query.type === TYPE.ANY ? ANY_ANSWER : negative.nodata;
    if (of.kind === "known") return whyTexts(cellTexts(query, of.name.steered));
    const label = lookedUp(query, of, found);
    return isWait(label) ? label : whyTexts(labelTexts(query, label));
  };

  const byName: Resolve = (query, reply, found) => {
    const target: Target = authority.find(query);
    switch (target.kind) {
      case "known":
        return known(query, reply, target.name);
      case "label": {
        if (!isAddressType(query.type)) return query.type === TYPE.ANY ? ANY_ANSWER : negative.nodata;
        const label = lookedUp(query, target, found);
        return isWait(label) ? label : conversation(query, reply, label);
      }
      case "why":
        return inquiry(query, target.of, found);
      case "missing":
        return negative.nxdomain;
      case "outside":
        return REFUSALS.outside;
    }
  };

  return (query, reply, found) => {
    const refusal = refusalOf(query, transport);
    if (refusal !== null) return refusal;
    // From here on every reply to a client subnet carries one (RFC 7871 §7.2.1); unless it decided, the scope is 0.
    reply.scopeBits = 0;
    return options.challenges(query) ?? byName(query, reply, found);
  };
};

const isWait = (label: StandingLabel | Wait): label is Wait => label === "overload" || label instanceof Promise;

const isAddressType = (type: number): boolean => type === TYPE.A || type === TYPE.AAAA;

const familyOf = ({ type }: DnsQuery): 4 | 6 => (type === TYPE.A ? 4 : 6);

const firstFamily = ({ ipv4 }: SteeredName): 4 | 6 => (ipv4 === null ? 6 : 4);

/** Classes that are not ours, and types that are no data but requests (RFC 6895 §3.1). */
const refusalOf = (query: DnsQuery, transport: Transport): Image | null => {
  if (query.class !== CLASS.IN && query.class !== CLASS.ANY) return REFUSALS.refused;
  switch (query.type) {
    case TYPE.AXFR:
    case TYPE.IXFR:
      // A transfer is impossible over UDP, and over TCP it is nobody's.
      return transport === "udp" ? REFUSALS.notimp : REFUSALS.refused;
    case TYPE.MAILA:
    case TYPE.MAILB:
    case TYPE.TKEY:
      return REFUSALS.notimp;
    case TYPE.OPT:
    case TYPE.TSIG:
      return REFUSALS.formerr;
    default:
      return null;
  }
};
