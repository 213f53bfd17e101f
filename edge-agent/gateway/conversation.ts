/** Which conversation a request belongs to: by the label in its host, its ticket, the redirect's parameter, or the client's header. */
import type { ConversationId, PoolName, RegionId } from "#shared/ids.ts";
import { type Labels, tagOf } from "#shared/pin-token.ts";
import type { TicketClaims } from "#shared/ticket.ts";
import type { Site } from "./hosts.ts";

export type Identified = {
  /** null: nothing says which. */
  readonly conversation: ConversationId | null;
  readonly pool: PoolName | null;
  /** The pin token for the answer and for other regions; null: there is none that the GTMs made. */
  readonly pin: string | null;
  /** A label that names another region as home. It is as old as the label, so a hint. */
  readonly isLabelElsewhere: boolean;
  /** Whether it was a label: whoever comes by name resolves it anew once its connection ends. */
  readonly isByLabel: boolean;
  /** Names one of our keys and is not signed with it. */
  readonly isForged: boolean;
};

export type Spoken = {
  readonly site: Site;
  readonly claims: TicketClaims | null;
  /** `gtm_c`; null: absent. */
  readonly parameter: string | null;
  /** `X-GTM-Pin`; null: absent. */
  readonly header: string | null;
};

/** @param pools those of this region; labels name them by tag */
export const createIdentify = (
  labels: Labels,
  region: RegionId,
  pools: readonly PoolName[],
): ((spoken: Spoken) => Identified) => {
  const ownTag = tagOf(region);
  const poolByTag = new Map(pools.map((pool) => [tagOf(pool), pool]));

  const byToken = (token: string): Identified | null => {
    const reading = labels.read(token);
    // Only what the GTMs signed is believed of a stranger's parameter or header.
    if (reading.kind !== "ours") return reading.kind === "forged" ? { ...NOBODY, isForged: true } : null;
    const pool = poolByTag.get(reading.poolTag) ?? null;
    return { ...NOBODY, conversation: reading.conversation, pool, pin: token };
  };

  const byLabel = (label: string): Identified => {
    const reading = labels.read(label);
    const isOurs = reading.kind === "ours";
    return {
      conversation: reading.conversation,
      pool: isOurs ? (poolByTag.get(reading.poolTag) ?? null) : null,
      pin: isOurs ? label : null,
      isLabelElsewhere: isOurs && reading.regionTag !== ownTag,
      isByLabel: true,
      isForged: reading.kind === "forged",
    };
  };

  const byTokens = ({ parameter, header }: Spoken): Identified =>
    (parameter === null ? null : byToken(parameter)) ?? (header === null ? null : byToken(header)) ?? NOBODY;

  return (spoken) => {
    const { site, claims } = spoken;
    if (site.kind === "label") return byLabel(site.label);
    const pool = site.kind === "pool" ? site.pool : null;
    if (claims !== null && claims.conversation !== null) {
      return { ...NOBODY, conversation: claims.conversation, pool: claims.pool, pin: claims.pin };
    }
    const found = byTokens(spoken);
    return { ...found, pool: claims?.pool ?? pool ?? found.pool };
  };
};

const NOBODY: Identified = {
  conversation: null,
  pool: null,
  pin: null,
  isLabelElsewhere: false,
  isByLabel: false,
  isForged: false,
};
