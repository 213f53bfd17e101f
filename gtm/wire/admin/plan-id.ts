/** The name of a plan: what was asked, and what it rested on, so that it is carried out only while both still hold. */
import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import type { Region } from "#gtm/domain/region.ts";
import type { OrdersRecord } from "#shared/records.ts";
import { refuse } from "./problem.ts";

/** Long enough to read it and to ask somebody; conversations come and go meanwhile. */
export const PLAN_VALID_MS = 300_000;

/** Any GTM can read one that another made: it says when, which order, which orders stood, and of each region how it was. */
export const PlanId = z
  .string()
  .regex(
    /^p1-[0-9a-z]{8,9}-[0-9a-f]{12}-[0-9a-f]{12}-[0-9a-f]*$/,
    "is no plan's id: take it from the answer of a dry run",
  )
  .max(4_096);

export type PlanBasis = {
  /** The order itself, as it was asked. */
  readonly wish: unknown;
  /** Those that stand. */
  readonly orders: OrdersRecord;
  /** Those that the plan counts on. */
  readonly regions: readonly Region[];
};

export const planIdOf = ({ wish, orders, regions }: PlanBasis, nowMs: number): string =>
  `p1-${Math.floor(nowMs).toString(36)}-${digest(wish, 12)}-${digest(standing(orders), 12)}-${regionDigests(regions).join("")}`;

/**
 * @param id null: the caller requires none
 * @throws {ProblemError} 412 with what changed since
 */
export const requirePlan = (id: string | null, basis: PlanBasis, nowMs: number): void => {
  if (id === null) return;
  const changed = changesSince(id, basis, nowMs);
  if (changed.length === 0) return;
  throw refuse(
    "precondition-failed",
    `The plan no longer holds: ${changed.join("; ")}. Make another with dry_run=true.`,
    {
      changed,
    },
  );
};

const changesSince = (id: string, { wish, orders, regions }: PlanBasis, nowMs: number): readonly string[] => {
  const [, made = "", wishDigest, ordersDigest, digests = ""] = id.split("-");
  // What another order counted on says nothing of this one.
  if (wishDigest !== digest(wish, 12)) return ["it is of another order"];
  const ageMs = nowMs - Number.parseInt(made, 36);
  const changed: string[] = [];
  // One from ahead of this clock is no older than one that was made now.
  if (!(ageMs <= PLAN_VALID_MS)) changed.push(`it is over ${PLAN_VALID_MS / 60_000} minutes old`);
  if (ordersDigest !== digest(standing(orders), 12)) changed.push("somebody ordered something else");
  const now = regionDigests(regions);
  if (digests.length !== now.length * REGION_DIGITS) changed.push("other regions are configured");
  else
    for (const [at, is] of now.entries()) {
      if (digests.slice(at * REGION_DIGITS, (at + 1) * REGION_DIGITS) === is) continue;
      const region = byId(regions)[at];
      if (region !== undefined) changed.push(`${region.id} is ${region.admin} and ${region.health} now`);
    }
  return changed;
};

/** What is ordered, without what goes on by itself. */
const standing = ({ regions, overrides }: OrdersRecord): unknown => [
  regions.map(({ region, admin, orderedAtMs }) => [region, admin, orderedAtMs]),
  overrides.map(({ id, orderedAtMs, expiresAtMs }) => [id, orderedAtMs, expiresAtMs]),
];

const REGION_DIGITS = 4;

const byId = (regions: readonly Region[]): readonly Region[] => regions.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** Whether it may serve, and which models: degraded or not makes no other plan. */
const regionDigests = (regions: readonly Region[]): readonly string[] =>
  byId(regions).map(({ id, admin, health, placements }) =>
    digest(
      [
        ...[id, admin, health === "degraded" ? "healthy" : health],
        [...placements.values()].map(({ model, state }) => `${model} ${state}`).sort(),
      ],
      REGION_DIGITS,
    ),
  );

/** @param digits hexadecimal */
const digest = (content: unknown, digits: number): string =>
  createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, digits);
