/** An override that stands, changed or cancelled: checked against what the caller saw, previewed, carried out. */
import type { z } from "@hono/zod-openapi";
import type { Override } from "#shared/records.ts";
import { isAnyState } from "./if-match.ts";
import type { OverrideChangeBody, OverridePlan } from "./override-body.ts";
import { allowed, type Parts, planned, type Wanted } from "./override-plan.ts";
import { overrideEtag, overrideNamed } from "./override-view.ts";
import type { OverrideChange } from "./ports.ts";
import { refuse } from "./problem.ts";
import { mustSayWhy, type Rule } from "./safety-rules.ts";

/** What somebody does to one that stands; null in a field: nothing was said of it. */
export type Deed =
  | {
      readonly deed: "change";
      readonly forMs: number | null;
      readonly share: number | null;
      readonly comment: string | null;
    }
  | { readonly deed: "cancel"; readonly comment: string | null };

export type Doing = Deed & {
  readonly standing: Override;
  readonly actor: string;
  /** As the caller saw it; null: whatever it is. */
  readonly ifMatch: string | null;
  readonly planId: string | null;
};

export const changeAsked = (body: z.infer<typeof OverrideChangeBody>): Deed => ({
  deed: "change",
  ...{ forMs: body.for ?? null, share: body.share ?? null, comment: body.comment ?? null },
});

export const planDoing = async (parts: Parts, doing: Doing): Promise<OverridePlan> =>
  (await planned(parts, wantedOf(parts, doing), null)).plan;

/**
 * By the plan that a dry run shows; once more at the store, since somebody at another GTM may have been faster.
 *
 * @throws {ProblemError} 404, 412, 409 where a safety rule forbids it
 */
export const carryOutDoing = async (parts: Parts, doing: Doing, passed: readonly Rule[]): Promise<void> => {
  mustSayWhy(passed, doing.comment);
  await mustBeAllowed(parts, doing, passed);
  const { standing, actor, ifMatch, comment } = doing;
  const change: OverrideChange = {
    ...{ actor, comment, seenAtMs: isAnyState(ifMatch) ? null : standing.orderedAtMs },
    ...(doing.deed === "cancel"
      ? { expiresAtMs: Math.floor(parts.clock.epochMs()), share: null }
      : { expiresAtMs: expiryOf(parts, doing), share: doing.share }),
  };
  if ((await parts.ports.orders.changeOverride(standing.id, change)) !== null) return;
  standingOverride(parts, standing.id, ifMatch);
  throw noOverride(standing.id);
};

/** What taking a drain back by its operation has to pass as well. @throws {ProblemError} as carryOutDoing */
export const mustBeAllowed = async (parts: Parts, doing: Doing, passed: readonly Rule[]): Promise<void> => {
  await allowed(parts, wantedOf(parts, doing), passed);
};

const wantedOf = (parts: Parts, doing: Doing): Wanted => {
  const { deed, standing, actor, planId, comment } = doing;
  const common = { deed, actor, planId, pacing: null };
  if (doing.deed === "cancel") {
    return { ...common, override: standing, wish: ["cancel", standing.id], takesNothing: false };
  }
  const { forMs, share } = doing;
  return {
    ...common,
    override: {
      ...standing,
      ...(share === null ? {} : { share }),
      ...(comment === null ? {} : { comment }),
      expiresAtMs: expiryOf(parts, doing),
    },
    wish: ["change", standing.id, forMs, share, comment],
    takesNothing: share === null,
  };
};

const expiryOf = ({ clock }: Parts, { standing, forMs }: Doing & { readonly deed: "change" }): number =>
  forMs === null ? standing.expiresAtMs : Math.floor(clock.epochMs()) + forMs;

/** @throws {ProblemError} 404 where it stands no more, 412 where somebody changed it */
export const standingOverride = ({ ports }: Pick<Parts, "ports">, id: string, ifMatch: string | null): Override => {
  const override = overrideNamed(ports.orders.current(), id);
  if (override === null) throw noOverride(id);
  if (isAnyState(ifMatch) || ifMatch === overrideEtag(override)) return override;
  throw refuse("precondition-failed", `${override.actor} changed override ${id} meanwhile.`);
};

/** @throws {ProblemError} 400 where a share is said of what is none */
export const mustBeShare = ({ id, kind }: Override, share: number | null): void => {
  if (share === null || kind === "share") return;
  const message = `override ${id} is of the kind ${kind}, which has no share`;
  throw refuse("malformed-request", `body.share: ${message}`, { faults: [{ at: "body.share", message }] });
};

export const noOverride = (id: string) =>
  refuse("not-found", `No override ${id} stands: it was never given, was cancelled, or has expired.`);
