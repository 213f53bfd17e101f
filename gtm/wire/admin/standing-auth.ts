/** Who may use the API, by the configuration that stands: replaced while the API runs, and whoever was let in is judged anew. */

import { isIP } from "node:net";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { type Actor, LOCAL } from "./auth.ts";
import { type Authenticator, createAuthenticator } from "./authenticator.ts";
import { type Address, textOf } from "./listener.ts";
import { createOidc, type Oidc, type OidcSettings } from "./oidc.ts";
import { openTokensFile, type TokensFile } from "./tokens-file.ts";
import type { TokensPort } from "./tokens-port.ts";

/** With neither a file nor an identity provider only loopback will do, and everybody on this host is an admin. */
export type AuthOptions = {
  readonly tokensFile: string | null;
  readonly oidc: OidcSettings | null;
  /** The longest that a token may stand which is made by the API. */
  readonly mostTokenMs: number;
  /** How long such tokens are believed while the store cannot be read. */
  readonly withoutStoreMs: number;
};

export type StandingAuth = {
  /** The same object whatever stands. */
  readonly auth: Authenticator;
  readonly mostTokenMs: () => number;
  /**
   * Reads what is new in it at once: a tokens file that is named already is read again when it changes, and not for this.
   *
   * @returns makes it stand
   * @throws {OperationalError} it cannot be used, and nothing has changed
   */
  readonly prepare: (next: AuthOptions) => () => void;
};

type Parts = {
  /** Where the API listens, whatever is said of who may use it. */
  readonly listen: Address;
  readonly stored: TokensPort;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
};

type Standing = {
  readonly options: AuthOptions;
  readonly file: TokensFile | null;
  readonly oidc: Oidc | null;
  readonly by: Authenticator;
};

/** @throws {OperationalError} as `prepare` */
export const createStandingAuth = (first: AuthOptions, parts: Parts): StandingAuth => {
  const { listen, stored, clock, log, metrics } = parts;
  /** Which provider let somebody in: of another the roles may be others, too. */
  const providers = new WeakMap<Actor, Oidc>();
  const made = (options: AuthOptions, before: Standing | null): Standing => {
    mustNotBeExposed(listen, options);
    const { tokensFile, withoutStoreMs } = options;
    const file = before?.options.tokensFile === tokensFile ? before.file : opened(tokensFile, { log, metrics });
    const isSameOidc = before !== null && isDeepStrictEqual(before.options.oidc, options.oidc);
    const oidc = isSameOidc ? before.oidc : providerOf(options.oidc, { clock, log, metrics });
    return { options, file, oidc, by: createAuthenticator({ file, oidc, stored, withoutStoreMs, clock }) };
  };
  let now = made(first, null);
  if (!isLoopback(listen.address)) log.warn("admin.plaintext", { address: textOf(listen) });
  return {
    mostTokenMs: () => now.options.mostTokenMs,
    auth: {
      get asksForTokens() {
        return now.by.asksForTokens;
      },
      fileTokens: () => now.by.fileTokens(),
      identify: async (authorization, scheme) => {
        const { by, oidc } = now;
        const identified = await by.identify(authorization, scheme);
        if (identified.kind === "actor" && identified.actor.by === "oidc" && oidc !== null) {
          providers.set(identified.actor, oidc);
        }
        return identified;
      },
      stands: (actor) => {
        if (actor === LOCAL) return !now.by.asksForTokens;
        if (actor.by === "oidc" && providers.get(actor) !== now.oidc) return false;
        return now.by.stands(actor);
      },
    },
    prepare: (next) => {
      if (isDeepStrictEqual(next, now.options)) return () => {};
      const standing = made(next, now);
      return () => {
        now = standing;
        log.info("admin.auth-changed", {
          ...{ hasTokens: standing.by.asksForTokens, hasFile: standing.file !== null, hasOidc: standing.oidc !== null },
        });
      };
    },
  };
};

const opened = (path: string | null, options: { log: Logger; metrics: Metrics }): TokensFile | null =>
  path === null ? null : openTokensFile(path, options);

const providerOf = (settings: OidcSettings | null, parts: Pick<Parts, "clock" | "log" | "metrics">): Oidc | null =>
  settings === null ? null : createOidc(settings, parts);

const mustNotBeExposed = (listen: Address, { tokensFile, oidc }: AuthOptions): void => {
  if (isLoopback(listen.address) || tokensFile !== null || oidc !== null) return;
  throw new OperationalError(
    "GTM_CONFIG_INVALID",
    `admin.listen: ${textOf(listen)} can be reached from other hosts, which needs admin.auth.tokens_file or admin.auth.oidc; without them listen on 127.0.0.1 or ::1`,
  );
};

const isLoopback = (address: string): boolean =>
  address === "localhost" || address === "::1" || (isIP(address) === 4 && address.startsWith("127."));
