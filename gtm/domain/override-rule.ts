/** From an override as it is stored to the rule that steering reads, as far as this version knows its kind. */
import type { OverrideRule } from "./world.ts";

export type StoredOverride = {
  readonly id: string;
  readonly kind: string;
  readonly share?: number | undefined;
  readonly region: string;
  readonly pool: string;
  readonly model: string;
  readonly tenant: string;
};

/** @returns null: a later version made it, and it is passed over here */
export const ruleOf = ({ id, kind, share, region, pool, model, tenant }: StoredOverride): OverrideRule | null => {
  const target = { id, region, pool, model, tenant };
  switch (kind) {
    case "deny":
    case "force":
    case "drain-new":
    case "drain-all":
      return { ...target, kind };
    case "share":
      return share === undefined ? null : { ...target, kind, share };
    default:
      return null;
  }
};

/** @returns what this GTM does not do although others may, in a sentence; null: it knows them all */
export const unknownKinds = (overrides: readonly StoredOverride[]): string | null => {
  const unknown = overrides.filter((one) => ruleOf(one) === null);
  if (unknown.length === 0) return null;
  const named = unknown.map(({ id, kind }) => `${id} (${kind})`).join(", ");
  return `overrides of a later version are passed over here: ${named}`;
};
