/** Tokens of the admin API as one record: added, changed, revoked, and two records that went apart made one again. */
import { isDeepStrictEqual } from "node:util";
import { MOST_RECORDED, type TokenRecord, type TokensRecord } from "#shared/token-record.ts";

export const NO_TOKENS: TokensRecord = { v: 1, rev: 0, tokens: [] };

/** One that has expired stays in the record for so long: people look for it, and clocks differ. */
const REMEMBERED_MS = 86_400_000;

/** @returns the next revision, with the token as it is now in place of what was known of it */
export const withToken = (record: TokensRecord, token: TokenRecord, nowMs: number): TokensRecord => {
  const before = record.tokens.find(({ id }) => id === token.id);
  // The younger one whatever the clocks say.
  const changedAtMs = Math.max(token.changedAtMs, (before?.changedAtMs ?? 0) + 1);
  const others = record.tokens.filter(({ id }) => id !== token.id);
  return { ...record, rev: record.rev + 1, tokens: tidy([...others, { ...token, changedAtMs }], nowMs) };
};

/**
 * What should stand in the store, given what stands there and what we know: of each token the younger, and once revoked it stays
 * so. It does not matter which is which.
 *
 * @returns `found` itself where it has all that we know
 */
export const reconciledTokens = (known: TokensRecord, found: TokensRecord, nowMs: number): TokensRecord => {
  const tokens = new Map(found.tokens.map((token) => [token.id, token]));
  for (const token of known.tokens) {
    const other = tokens.get(token.id);
    tokens.set(token.id, other === undefined ? token : younger(token, other));
  }
  const wanted = tidy([...tokens.values()], nowMs);
  const isKnown = isDeepStrictEqual(wanted, tidy(found.tokens, nowMs));
  return isKnown ? found : { ...found, rev: Math.max(known.rev, found.rev) + 1, tokens: wanted };
};

const younger = (a: TokenRecord, b: TokenRecord): TokenRecord => {
  const [one, other] = [a, b].sort((x, y) => y.changedAtMs - x.changedAtMs || (textOf(x) < textOf(y) ? 1 : -1));
  if (one === undefined || other === undefined) return a;
  if (one.revokedAtMs !== null || other.revokedAtMs === null) return one;
  return { ...one, revokedAtMs: other.revokedAtMs, revokedBy: other.revokedBy };
};

/** A record holds so many, or nobody could read it: those that end first go. */
const tidy = (tokens: readonly TokenRecord[], nowMs: number): TokenRecord[] =>
  tokens
    .filter(({ expiresAtMs }) => expiresAtMs + REMEMBERED_MS > nowMs)
    .sort((a, b) => b.expiresAtMs - a.expiresAtMs)
    .slice(0, MOST_RECORDED)
    .sort((a, b) => (a.id < b.id ? -1 : 1));

const textOf = (one: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
