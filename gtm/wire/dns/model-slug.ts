/** A model's name as a DNS label. */
import { hash32 } from "#gtm/domain/hash.ts";
import type { ModelId } from "#shared/ids.ts";

const LONGEST_LABEL = 63;

/**
 * Lower case, every run of other characters than letters, digits and hyphens one hyphen. Models whose slugs would be the
 * same, or would not be a label, get a hash of the name behind it: the same on every GTM, whatever their order.
 */
export const modelSlugs = (models: readonly ModelId[]): ReadonlyMap<ModelId, string> => {
  const owners = new Map<string, number>();
  for (const model of models) owners.set(plainSlug(model), (owners.get(plainSlug(model)) ?? 0) + 1);
  return new Map(
    models.map((model) => {
      const slug = plainSlug(model);
      const isItsOwn = slug.length > 0 && slug.length <= LONGEST_LABEL && owners.get(slug) === 1;
      return [model, isItsOwn ? slug : withHash(slug, model)];
    }),
  );
};

const plainSlug = (model: string): string =>
  model
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "");

const withHash = (slug: string, model: string): string => {
  const suffix = hash32(model).toString(16).padStart(8, "0");
  return [slug.slice(0, LONGEST_LABEL - suffix.length - 1).replace(/-+$/, ""), suffix]
    .filter((one) => one !== "")
    .join("-");
};
