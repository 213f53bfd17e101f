/** Lets people in: tokens of the file, tokens of the store, tokens of an identity provider; and says when one no longer stands. */
import type { Clock } from "#shared/clock.ts";
import type { TokenRecord } from "#shared/token-record.ts";
import { type Actor, actorOf, credentialsIn, type Identified, LOCAL, refused, type Scheme, tokenIn } from "./auth.ts";
import { type KnownToken, tokenOfEntry, tokenOfRecord } from "./known-token.ts";
import type { Oidc } from "./oidc.ts";
import type { TokenEntry, TokensFile } from "./tokens-file.ts";
import type { TokensPort } from "./tokens-port.ts";

export type Authenticator = {
  /** False: no tokens are configured, and whoever connects over loopback is an admin. */
  readonly asksForTokens: boolean;
  /** @param authorization the header's value; undefined: absent */
  readonly identify: (authorization: string | undefined, scheme: Scheme) => Promise<Identified>;
  /** Whether somebody who was let in still would be: what takes long asks again. */
  readonly stands: (actor: Actor) => boolean;
  /** Of the file, as it is now. */
  readonly fileTokens: () => readonly KnownToken[];
};

export type AuthSources = {
  /** null: none is configured. */
  readonly file: TokensFile | null;
  readonly oidc: Oidc | null;
  readonly stored: TokensPort;
  /** How long tokens of the store are believed while it cannot be read. */
  readonly withoutStoreMs: number;
  readonly clock: Clock;
};

const HOUR_MS = 3_600_000;

export const createAuthenticator = ({ file, oidc, stored, withoutStoreMs, clock }: AuthSources): Authenticator => {
  const ofFile = kept((entries: readonly TokenEntry[]) => entries.map(tokenOfEntry));
  const ofStore = kept((records: readonly TokenRecord[]) => records.flatMap((one) => tokenOfRecord(one) ?? []));
  const fileTokens = (): readonly KnownToken[] => (file === null ? [] : ofFile(file.entries()));
  const storeTokens = (): readonly KnownToken[] => ofStore(stored.current());
  /** null: they are; else for how long nobody could look. */
  const uncheckedForMs = (): number | null => {
    const agoMs = stored.readAgoMs();
    return agoMs !== null && agoMs <= withoutStoreMs ? null : (agoMs ?? withoutStoreMs);
  };
  const judged = (token: KnownToken): Identified => {
    const forMs = token.source === "api" ? uncheckedForMs() : null;
    if (forMs === null) return actorOf(token, clock.epochMs());
    const hours = Math.floor(forMs / HOUR_MS);
    return refused(
      "unchecked",
      `The store was not read for ${hours} h, so nobody knows whether the token ${token.name} was revoked. Tokens of the file go on.`,
    );
  };
  return {
    fileTokens,
    asksForTokens: file !== null || oidc !== null,
    identify: async (authorization, scheme) => {
      const credentials = credentialsIn(authorization, scheme);
      if ("kind" in credentials) return credentials;
      if (oidc !== null && credentials.user === null && oidc.isFor(credentials.token)) {
        return oidc.identify(credentials.token);
      }
      const token = tokenIn(credentials, [...fileTokens(), ...storeTokens()]);
      if (token === null) return refused("unknown", "No such token is known.");
      const identified = judged(token);
      if (identified.kind === "actor") stored.used(token.id);
      return identified;
    },
    stands: (actor) => {
      if (actor === LOCAL) return true;
      if (actor.by === "oidc") return actor.expiresAtMs !== null && actor.expiresAtMs > clock.epochMs();
      const token = [...fileTokens(), ...storeTokens()].find(({ id }) => id === actor.tokenId);
      return token !== undefined && judged(token).kind === "actor";
    },
  };
};

/** Made again only when it is another list. */
const kept = <From extends object, To>(make: (from: From) => To): ((from: From) => To) => {
  let last: { readonly from: From; readonly to: To } | null = null;
  return (from) => {
    if (last?.from !== from) last = { from, to: make(from) };
    return last.to;
  };
};
