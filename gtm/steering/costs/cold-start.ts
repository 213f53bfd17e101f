/** Loading weights until the first request can start. */
import type { Placement } from "#gtm/domain/placement.ts";
import type { Policy } from "../policy.ts";

/** @returns ms; 0 where the model is loaded */
export const coldStartMs = (placement: Placement, policy: Policy): number =>
  placement.state === "loaded" ? 0 : (placement.coldStartMs ?? policy.assumedColdStartMs);
