/** What the admin API needs of the tokens that it hands out. */
import type { TokenRecord } from "#shared/token-record.ts";

/** Changes reject with OperationalError GTM_STORE_UNREACHABLE while the store is away: a token must reach every GTM. */
export type TokensPort = {
  /** Those revoked or expired of late included; the same array until they change. */
  readonly current: () => readonly TokenRecord[];
  /** How long ago the store was read; null: never. */
  readonly readAgoMs: () => number | null;
  /** @returns false: there are as many as there may be */
  readonly add: (token: TokenRecord) => Promise<boolean>;
  /**
   * @param seenAtMs `changedAtMs` as the caller saw it; null: whatever it is
   * @returns null: there is none of that id, or it is revoked or over, or was changed since
   */
  readonly change: (id: string, change: Partial<TokenRecord>, seenAtMs: number | null) => Promise<TokenRecord | null>;
  /** Somebody was let in by it. Returns at once and never throws. */
  readonly used: (id: string) => void;
  /** Epoch ms, to the minute. */
  readonly lastUsed: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
};
