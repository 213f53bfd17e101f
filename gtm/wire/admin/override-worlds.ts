/** Worlds with one override more, changed or fewer; and whether an override is about anything that there is. */
import { ruleOf, type StoredOverride } from "#gtm/domain/override-rule.ts";
import type { World } from "#gtm/domain/world.ts";
import { matchesGlob } from "#gtm/steering/overrides.ts";
import type { AdminPorts } from "./ports.ts";
import { refuse } from "./problem.ts";

/** The world as it would be once everybody has heard of it; one of the same id is taken for its former self. */
export const withOverride = (world: World, override: StoredOverride): World => {
  const others = withoutOverride(world, override.id);
  const rule = ruleOf(override);
  return rule === null ? others : { ...others, overrides: [...others.overrides, rule] };
};

export const withoutOverride = (world: World, id: string): World => ({
  ...world,
  overrides: world.overrides.filter((one) => one.id !== id),
});

type Subject = { readonly region: string; readonly pool: string; readonly model: string };

/**
 * An order that concerns nothing is a slip of the pen.
 *
 * @param at where it stands in the request, such as "body"
 * @throws {ProblemError} 400
 */
export const mustMatch = (
  { steering, pools, models }: Pick<AdminPorts, "steering" | "pools" | "models">,
  { region, pool, model }: Subject,
  at: string,
): void => {
  const named = {
    region: [region, steering.world().regions.map(({ id }) => id)],
    pool: [pool, pools.map(({ name }) => name)],
    model: [model, models.map(({ id }) => id)],
  } as const;
  for (const [what, [asked, there]] of Object.entries(named)) {
    if (there.some((name) => matchesGlob(asked, name))) continue;
    const message = `${asked} matches none of ${there.join(", ")}`;
    throw refuse("malformed-request", `${what}: ${message}`, { faults: [{ at: `${at}.${what}`, message }] });
  }
};

export const regionsOf = (world: World, { region }: Pick<Subject, "region">): string[] =>
  world.regions.filter(({ id }) => matchesGlob(region, id)).map(({ id }) => id);
