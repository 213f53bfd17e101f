/** Which of the orders about traffic concern a turn. */
import type { Turn } from "#gtm/domain/turn.ts";
import type { OverrideRule, World } from "#gtm/domain/world.ts";

/** Matches a glob in which `*` stands for any run of characters, also none. */
export const matchesGlob = (glob: string, text: string): boolean => {
  const [head = "", ...rest] = glob.split("*");
  if (rest.length === 0) return glob === text;
  const tail = rest.pop() ?? "";
  if (text.length < head.length + tail.length || !text.startsWith(head) || !text.endsWith(tail)) return false;
  let at = head.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > text.length - tail.length) return false;
    at = found + piece.length;
  }
  return true;
};

/** The rules whose pool, model and tenant fit the turn; whether a region fits is asked region by region. */
export const overridesFor = (turn: Turn, world: World): readonly OverrideRule[] =>
  world.overrides.length === 0
    ? world.overrides
    : world.overrides.filter(
        (rule) =>
          matchesGlob(rule.pool, turn.pool.name) &&
          matchesGlob(rule.model, turn.model) &&
          matchesGlob(rule.tenant, turn.tenant),
      );

/**
 * The rule that keeps a region out: one that denies or drains it, or one that forces another.
 *
 * @param isHeld whether the region holds this turn's conversation
 */
export const overriddenBy = (rules: readonly OverrideRule[], region: string, isHeld: boolean): string | null =>
  rules.find((rule) => keepsOut(rule, matchesGlob(rule.region, region), isHeld))?.id ?? null;

const keepsOut = ({ kind }: OverrideRule, isMatched: boolean, isHeld: boolean): boolean => {
  switch (kind) {
    case "deny":
    case "drain-all":
      return isMatched;
    case "drain-new":
      return isMatched && !isHeld;
    case "force":
      return !isMatched;
  }
};
