/** What a token is limited to: globs on regions, pools and tenants, and which of two limits lies within the other. */
import { z } from "@hono/zod-openapi";
import { matchesGlob } from "#gtm/steering/overrides.ts";

/** null: any. */
export type Globs = readonly string[] | null;

export type Scope = {
  /** Regions that its owner may order of; all of them can be seen. */
  readonly regions: Globs;
  /** Pools and tenants whose traffic its owner may see, and order about. */
  readonly pools: Globs;
  readonly tenants: Globs;
};

export const DIMENSIONS = ["regions", "pools", "tenants"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

export const ANYTHING: Scope = { regions: null, pools: null, tenants: null };

const Glob = z
  .string()
  .max(128)
  .regex(
    /^[\x21-\x7e]+$/,
    "must be a glob of printable characters without spaces, such as eu-*, in which * matches any run",
  );

/** Absent: not limited. An empty list would be a token for nothing, which is a slip of the pen. */
export const ScopeFields = {
  regions: z.array(Glob).min(1).max(64).optional(),
  pools: z.array(Glob).min(1).max(64).optional(),
  tenants: z.array(Glob).min(1).max(64).optional(),
} as const;

/** Absent or null: any. */
export type Wished = { readonly [Name in Dimension]?: readonly string[] | null | undefined };

export const scopeOf = ({ regions, pools, tenants }: Wished): Scope => ({
  regions: limited(regions),
  pools: limited(pools),
  tenants: limited(tenants),
});

/** A lone `*` is no limit. */
const limited = (globs: readonly string[] | null | undefined): Globs =>
  globs === undefined || globs === null || globs.includes("*") ? null : globs;

/**
 * Whether everything that a text or a glob matches is within these globs. The `*` of what is asked about is matched by a `*`
 * only, which no other character is, so nothing that it may stand for escapes.
 */
export const covers = (globs: Globs, asked: string): boolean =>
  globs === null || globs.some((glob) => matchesGlob(glob, asked));

/** Whether the first lies within the second. */
export const isWithin = (inner: Scope, outer: Scope): boolean => beyond(inner, outer).length === 0;

/** In which of them the first goes beyond the second. */
export const beyond = (inner: Scope, outer: Scope): readonly Dimension[] =>
  DIMENSIONS.filter((name) => {
    const [mine, theirs] = [inner[name], outer[name]];
    return mine === null ? theirs !== null : mine.some((glob) => !covers(theirs, glob));
  });

/** Whether some text is matched by both globs. */
export const meet = (one: string, other: string): boolean => {
  // reach[j]: whether one's first i characters and other's first j can be the same text.
  let reach = [true, ...Array.from(other, () => false)];
  for (let j = 1; j <= other.length; j++) reach[j] = reach[j - 1] === true && other[j - 1] === "*";
  for (const a of one) {
    const next = [a === "*" && reach[0] === true];
    for (let j = 1; j <= other.length; j++) {
      const b = other[j - 1];
      const isStar = a === "*" || b === "*";
      next.push(
        isStar ? reach[j] === true || next[j - 1] === true || reach[j - 1] === true : a === b && reach[j - 1] === true,
      );
    }
    reach = next;
  }
  return reach[other.length] === true;
};

export const meets = (globs: Globs, asked: string): boolean =>
  globs === null || globs.some((glob) => meet(glob, asked));

/** "regions eu-*, us-1; tenants acme"; "": not limited. */
export const scopeText = (scope: Scope): string =>
  DIMENSIONS.flatMap((name) => {
    const globs = scope[name];
    return globs === null ? [] : [`${name} ${globs.join(", ")}`];
  }).join("; ");
