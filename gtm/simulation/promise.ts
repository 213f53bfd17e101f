/** The promise on TTFT that a scenario is measured by: the policy's default. */
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";

/** @returns ms for a prompt of that many tokens */
export const sloMsOf = (promptTokens: number): number =>
  DEFAULT_POLICY.sloBaseMs + (DEFAULT_POLICY.sloPer1000TokensMs * promptTokens) / 1_000;
