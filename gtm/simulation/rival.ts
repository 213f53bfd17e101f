/** What a policy under comparison is asked, and told. */
import type { RegionSite } from "#gtm/domain/region.ts";
import type { City } from "./cities.ts";
import type { Agenda } from "./clock.ts";
import type { ServingRegion } from "./serving/serving-region.ts";

export type AskedTurn = {
  readonly conversation: number;
  readonly city: City;
  readonly promptTokens: number;
  /** Index of the region of the conversation's last turn; null: this is its first. */
  readonly previous: number | null;
};

export type FinishedTurn = {
  readonly conversation: number;
  readonly region: number;
  readonly replica: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
};

export type Rival = {
  /** @returns index of the region */
  readonly choose: (turn: AskedTurn) => number;
  readonly onFinished: (turn: FinishedTurn) => void;
};

export type Stage = {
  readonly agenda: Agenda;
  readonly sites: readonly RegionSite[];
  /** In the order of the sites. */
  readonly regions: readonly ServingRegion[];
};
