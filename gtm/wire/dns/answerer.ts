/** The answer step with everything that it needs, put together; sockets, or another transport, go around it. */
import type { Model } from "#gtm/domain/model.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { RegionSite } from "#gtm/domain/region.ts";
import type { Zone } from "#gtm/domain/zone.ts";
import type { Cell, CellSteer } from "#gtm/steering/cell.ts";
import type { Ports } from "#gtm/steering/ports.ts";
import type { Steer } from "#gtm/steering/steer.ts";
import type { Clock } from "#shared/clock.ts";
import type { DecisionId } from "#shared/ids.ts";
import type { Logger } from "#shared/logger.ts";
import type { Labels } from "#shared/pin-token.ts";
import { type AnswerStep, createAnswer } from "./answer.ts";
import { createAuthority } from "./authority.ts";
import { createCells } from "./cells.ts";
import { createChallengeAnswers } from "./challenges.ts";
import { createCookies } from "./cookies.ts";
import { createLabelConfirm } from "./label-confirm.ts";
import { createLabelFinder, type FindLabel } from "./label-finder.ts";
import { createLabelAnswers } from "./labels.ts";
import { negativeAnswers, negativeSoa } from "./negative.ts";
import { createPlaces } from "./places.ts";
import { createPrivateScope } from "./private-scope.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { createRender } from "./render.ts";
import { createRenderHttps } from "./render-https.ts";
import { steeredNames } from "./steered-name.ts";
import type { Tally, Transport } from "./tally.ts";
import { createWhyAccess, type WhyDegraded } from "./why.ts";
import type { Addresses } from "./zone-contents.ts";
import { zoneEntries } from "./zone-entries.ts";
import { zoneNames } from "./zone-names.ts";

export type AnswererOptions = {
  readonly zone: Zone;
  readonly ports: Ports;
  readonly steer: Steer;
  readonly decideCell: CellSteer;
  readonly regions: readonly RegionSite[];
  readonly pools: readonly Pool[];
  readonly models: readonly Model[];
  /** Of conversations whose label names none. */
  readonly defaultPool: Pool;
  /** What `front.<zone>` answers. */
  readonly frontAddresses: Addresses;
  /** null: labels are not minted here; they are answered like the default pool's name. */
  readonly labels: Labels | null;
  /** Where labels are looked up; null: here, by `steer` and `labels`. */
  readonly findLabel: FindLabel | null;
  /** TXT values of an `_acme-challenge` name, lower case without the trailing dot; null: none. The same array until they change. */
  readonly challengeTexts: (name: string) => readonly string[] | null;
  /** Networks that may ask `why.<name>`, CIDR notation; empty: those names do not exist. */
  readonly whyAllow: readonly string[];
  /** What `why.<name>` says beside the decision. */
  readonly degraded: () => WhyDegraded;
  /** Networks that the operator has located himself, CIDR notation. */
  readonly ownSubnets: readonly string[];
  /** Secrets of DNS cookies: the first makes them, all are accepted. The same array until they change. */
  readonly cookieKeys: () => readonly Uint8Array[];
  /** Who answers, for those who ask; null: they are not told. */
  readonly nsid: string | null;
  /** What keepalive says, ms. */
  readonly tcpIdleMs: number;
  readonly limiter: RateLimiter;
  /** @param cell of a decision that is not one query's */
  readonly newId: (cell?: Cell) => DecisionId;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tally: Tally;
};

/** Steps of one answerer share what was located, decided and looked up. */
export const createAnswerer = (options: AnswererOptions): ((transport: Transport) => AnswerStep) => {
  const { zone, ports, clock, newId, tally } = options;
  const contents = { ...options, front: options.frontAddresses };
  const steered = steeredNames(contents);
  const negative = negativeAnswers(zone);
  const render = createRender(options.regions, negative);
  const renderHttps = createRenderHttps(options.regions, negative);
  const cells = createCells({ ports, decideCell: options.decideCell, render, renderHttps, newId, clock });
  const names = zoneNames(zone, zoneEntries(contents, steered), negativeSoa(zone));
  const why = createWhyAccess(options.whyAllow);
  const find = options.findLabel ?? createLabelFinder({ ...options, onRead: tally.labelRead });
  // Who looks labels up elsewhere has no ledger here, and hears of a new world once a second.
  const standing =
    options.findLabel === null
      ? { confirm: createLabelConfirm(ports), nowMs: () => ports.world().takenAtMs }
      : { confirm: null, nowMs: clock.monotonicMs };
  const parts = {
    authority: createAuthority(zone.name, names, why.isOn),
    places: createPlaces({ locate: ports.locate, privateScope: createPrivateScope(options.ownSubnets), cells }),
    cells,
    labels: createLabelAnswers({ ports, render, find, ...standing }),
    negative,
    challenges: createChallengeAnswers(options.challengeTexts, negative),
    steeredByPool: steered.ofPool,
    why,
    degraded: options.degraded,
    cookies: createCookies({ secrets: options.cookieKeys, clock }),
    nsid: options.nsid,
    tcpIdleMs: options.tcpIdleMs,
    isStale: () => ports.world().areAgesFrozen,
    limiter: options.limiter,
    clock,
    log: options.log,
    tally,
  };
  return (transport) => createAnswer(parts, transport);
};
