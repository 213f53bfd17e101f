/** Which of the orders about traffic concern a turn. */
import { hash32 } from "#gtm/domain/hash.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { OverrideRule, ShareRule, World } from "#gtm/domain/world.ts";

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
  rules.length === 0
    ? null
    : (rules.find((rule) => keepsOut(rule, matchesGlob(rule.region, region), isHeld))?.id ?? null);

const keepsOut = ({ kind }: OverrideRule, isMatched: boolean, isHeld: boolean): boolean => {
  switch (kind) {
    case "deny":
    case "drain-all":
      return isMatched;
    case "drain-new":
      return isMatched && !isHeld;
    case "force":
      return !isMatched;
    case "share":
      return false;
  }
};

export const isShare = (rule: OverrideRule): rule is ShareRule => rule.kind === "share";

/**
 * The share that keeps a region out of a choice that is made anew: its traffic is among what others serve.
 *
 * @param hashKey the conversation, or the cell: the same on every GTM
 */
export const overShareOf = (rules: readonly OverrideRule[], region: string, hashKey: string): ShareRule | null =>
  rules.length === 0
    ? null
    : (rules.find(
        (rule): rule is ShareRule =>
          isShare(rule) && matchesGlob(rule.region, region) && drawOf(rule, hashKey) >= rule.share,
      ) ?? null);

/**
 * From 0 to 1, by the region's glob and not by the override's id: whoever raises a share, or orders it anew, adds to the
 * traffic that was in it, and several about one region are within one another.
 */
const drawOf = ({ region }: ShareRule, hashKey: string): number =>
  hash32(`share of ${region}/${hashKey}`) / 0x1_0000_0000;
