/** What a rival believes a turn would wait for and compute in a region: the part that its queue estimate decides. */
import type { ReplicaId } from "#shared/ids.ts";
import type { Asked } from "../rival.ts";
import type { Match } from "./prefix-index.ts";

export type Served = {
  readonly queueMs: number;
  /** Prefill of what the cache lacks. */
  readonly workMs: number;
  /** The replica that is believed to serve it; null: the least loaded. */
  readonly replica: ReplicaId | null;
};

export type Going = { readonly region: number; readonly arrivalAtMs: number; readonly served: Served };

export type QueueEstimate = {
  /** @param arrivalAtMs no earlier than now */
  readonly serve: (turn: Asked, region: number, match: Match, arrivalAtMs: number) => Served;
  readonly sent: (turn: Asked, going: Going) => void;
  readonly firstToken: (turn: Asked) => void;
  readonly ended: (turn: Asked) => void;
};
