/** Challenges of certificate authorities, as the admin API needs them. */

/** `_acme-challenge` names, lower case without the trailing dot. Changes reject as those of orders do. */
export type AcmePort = {
  readonly list: () => readonly AcmeListed[];
  /** @param isDryRun tells the outcome and writes nothing */
  readonly present: (
    wish: { readonly name: string; readonly value: string; readonly actor: string; readonly forMs: number },
    isDryRun?: boolean,
  ) => Promise<
    | { readonly kind: "presented" | "not-ours" }
    /** What has as many as it may. */
    | { readonly kind: "full"; readonly of: "name" | "zone" }
  >;
  /** null: any. `others`: how many such values somebody else presented, who keeps them. */
  readonly cleanup: (
    name: string,
    choice: { readonly value: string | null; readonly actor: string | null },
    isDryRun?: boolean,
  ) => Promise<
    { readonly kind: "cleaned"; readonly values: number; readonly others: number } | { readonly kind: "not-ours" }
  >;
};
export type AcmeListed = {
  readonly name: string;
  readonly values: readonly { readonly value: string; readonly actor: string; readonly expiresInMs: number }[];
};
