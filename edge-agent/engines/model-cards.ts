/** The model list of OpenAI-compatible servers (`/v1/models`): which names mean the same weights, and which are adapters on them. */

/** One set of weights and everything it answers to. */
export type Weights = {
  /** The names without a parent, in the order of the list; the first is the one that metrics use. */
  readonly names: readonly string[];
  readonly adapters: readonly string[];
  readonly contextLimitTokens: number | null;
  /** Who the server says it is, such as "vllm". */
  readonly ownedBy: string | null;
};

type Card = {
  readonly id: string;
  readonly root: string;
  readonly parent: string | null;
  readonly contextLimitTokens: number | null;
  readonly ownedBy: string | null;
};

/** @returns null where the list is not one; cards without an id are passed over */
export const weightsOf = (list: unknown): readonly Weights[] | null => {
  const data = fieldOf(list, "data");
  if (!Array.isArray(data)) return null;
  const cards = data.map(cardOf).filter((card) => card !== null);
  const roots = new Map<string, Card[]>();
  for (const card of cards.filter(({ parent }) => parent === null)) {
    roots.set(card.root, [...(roots.get(card.root) ?? []), card]);
  }
  const adapters = cards.filter(({ parent }) => parent !== null);
  return [...roots.values()].map((same) => {
    const names = distinct(same.map(({ id }) => id));
    return {
      names,
      adapters: distinct(adapters.filter(({ parent }) => names.includes(parent ?? "")).map(({ id }) => id)),
      contextLimitTokens: same.find((card) => card.contextLimitTokens !== null)?.contextLimitTokens ?? null,
      ownedBy: same[0]?.ownedBy ?? null,
    };
  });
};

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

const cardOf = (card: unknown): Card | null => {
  const id = textOf(fieldOf(card, "id"));
  if (id === null) return null;
  const limit = fieldOf(card, "max_model_len");
  return {
    id,
    root: textOf(fieldOf(card, "root")) ?? id,
    parent: textOf(fieldOf(card, "parent")),
    contextLimitTokens: typeof limit === "number" && Number.isSafeInteger(limit) && limit > 0 ? limit : null,
    ownedBy: textOf(fieldOf(card, "owned_by")),
  };
};

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[field] : undefined;
