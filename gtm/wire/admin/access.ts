/** The one place that answers "may this actor do this to that?", and what an actor gets to see. Pure. */
import type { Pool } from "#gtm/domain/pool.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { Override, OverrideKind } from "#shared/records.ts";
import type { Actor } from "./auth.ts";
import { beyond, covers, type Dimension, meets, type Scope, scopeText } from "./scope.ts";
import { RANKS, type Role } from "./tokens-file.ts";

/** What somebody wants to do, and to what. */
export type Deed =
  /** Needs the role alone: it concerns nobody's traffic, or the route shows and changes only what the scope covers. */
  | { readonly kind: "any" }
  /** Reads what tells of all pools and tenants. */
  | { readonly kind: "see-whole" }
  /** Changes what concerns everything. */
  | { readonly kind: "change-whole" }
  /** An order about a region concerns every pool and tenant there. */
  | { readonly kind: "order-region"; readonly region: string }
  /** An order about some traffic; globs, but for one conversation's. */
  | ({ readonly kind: "order-traffic" } & Traffic)
  /** Gives a token, or takes one. */
  | { readonly kind: "hand-out"; readonly scope: Scope };

export type Traffic = { readonly region: string; readonly pool: string; readonly tenant: string };

export type Denial = {
  readonly missing: "role" | Dimension;
  /** What would do, such as `operator` or `us-east`. */
  readonly needed: string;
  /** A sentence for whoever was refused. */
  readonly detail: string;
};

/** @returns null: they may */
export const denial = (actor: Actor, role: Role, deed: Deed): Denial | null => {
  if (!suffices(actor, role)) {
    return { missing: "role", needed: role, detail: `This needs the role ${role}; ${actor.name} is ${actor.role}.` };
  }
  const lacking = lackingScope(actor.scope, deed);
  if (lacking === null) return null;
  const [missing, needed] = lacking;
  const detail = `${REASONS[deed.kind](needed)} ${actor.name} is limited to ${scopeText(actor.scope)}.`;
  return { missing, needed, detail };
};

/** An admin may do everything; `acme` is no step on the way there. */
export const suffices = ({ role }: Pick<Actor, "role">, needed: Role): boolean => {
  if (needed === "acme" || role === "acme") return role === "admin" || role === needed;
  return RANKS.indexOf(role) >= RANKS.indexOf(needed);
};

const REASONS: Readonly<Record<Deed["kind"], (needed: string) => string>> = {
  any: () => "",
  "see-whole": () => "This tells of all pools and tenants.",
  "change-whole": () => "This concerns all regions, pools and tenants.",
  "order-region": (needed) =>
    needed === "*" ? "An order about a region concerns all pools and tenants there." : `This is about ${needed}.`,
  "order-traffic": (needed) => `This is about ${needed === "*" ? "all of them" : needed}.`,
  "hand-out": (needed) => `Nobody can hand out more than they have: this is for ${needed === "*" ? "any" : needed}.`,
};

type Lacking = readonly [dimension: Dimension, needed: string] | null;

const lackingScope = (scope: Scope, deed: Deed): Lacking => {
  switch (deed.kind) {
    case "any":
      return null;
    case "see-whole":
      return lackingTraffic(scope, { pool: "*", tenant: "*" });
    case "change-whole":
      return lackingAll(scope, { region: "*", pool: "*", tenant: "*" });
    case "order-region":
      return lackingAll(scope, { region: deed.region, pool: "*", tenant: "*" });
    case "order-traffic":
      return lackingAll(scope, deed);
    case "hand-out":
      return lackingHandOut(scope, deed.scope);
  }
};

const lackingAll = (scope: Scope, traffic: Traffic): Lacking =>
  covers(scope.regions, traffic.region) ? lackingTraffic(scope, traffic) : ["regions", traffic.region];

const lackingTraffic = (scope: Scope, { pool, tenant }: Omit<Traffic, "region">): Lacking => {
  if (!covers(scope.pools, pool)) return ["pools", pool];
  return covers(scope.tenants, tenant) ? null : ["tenants", tenant];
};

const lackingHandOut = (scope: Scope, wanted: Scope): Lacking => {
  const [first] = beyond(wanted, scope);
  if (first === undefined) return null;
  return [first, wanted[first]?.find((glob) => !covers(scope[first], glob)) ?? "*"];
};

/** Keeping traffic out of one region concerns that one; whatever else an override does decides about all the others, too. */
const ABOUT_ITS_REGION: ReadonlySet<string> = new Set<OverrideKind>(["deny", "drain-new", "drain-all", "share"]);

export const deedOfOverride = ({ kind, region, pool, tenant }: Pick<Override, "kind" | keyof Traffic>): Deed => ({
  ...{ kind: "order-traffic", pool, tenant },
  region: ABOUT_ITS_REGION.has(kind) ? region : "*",
});

/** Whether what it may see is less than everything. */
export const isLimited = ({ scope }: Pick<Actor, "scope">): boolean => scope.pools !== null || scope.tenants !== null;

type Seer = Pick<Actor, "scope">;

export const seesTraffic = ({ scope }: Seer, { pool, tenant }: Omit<Traffic, "region">): boolean =>
  covers(scope.pools, pool) && covers(scope.tenants, tenant);

export const seesEntry = (actor: Seer, { query }: Entry): boolean =>
  seesTraffic(actor, { pool: query.pool.name, tenant: query.tenant });

/** An override concerns whoever has some of the traffic that it is about. */
export const seesOverride = ({ scope }: Seer, { pool, tenant }: Pick<Override, "pool" | "tenant">): boolean =>
  meets(scope.pools, pool) && meets(scope.tenants, tenant);

export const poolsSeen = ({ scope }: Seer, pools: readonly Pool[]): readonly Pool[] =>
  pools.filter(({ name }) => covers(scope.pools, name));

/** Regions that some pool of theirs may use; null: all. */
export const regionsSeen = (actor: Seer, pools: readonly Pool[]): ReadonlySet<string> | null =>
  actor.scope.pools === null ? null : new Set(poolsSeen(actor, pools).flatMap(({ regions }) => regions));

/** Models of their pools; null: all. */
export const modelsSeen = (actor: Seer, pools: readonly Pool[]): ReadonlySet<string> | null =>
  actor.scope.pools === null ? null : new Set(poolsSeen(actor, pools).flatMap(({ models }) => models));
