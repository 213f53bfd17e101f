/** Tokens of an identity provider (OpenID Connect): who somebody is by signature, and which role their groups give them here. */
import { errors, type JWTPayload, jwtVerify } from "jose";
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { type Identified, refused } from "./auth.ts";
import { createOidcKeys } from "./oidc-keys.ts";
import { scopeOf } from "./scope.ts";
import type { RANKS } from "./tokens-file.ts";

/** What a value of the claim gives. */
export type OidcRole = {
  readonly value: string;
  readonly role: (typeof RANKS)[number];
  readonly regions?: readonly string[] | undefined;
  readonly pools?: readonly string[] | undefined;
  readonly tenants?: readonly string[] | undefined;
};

export type OidcSettings = {
  readonly issuer: string;
  readonly audience: string;
  /** null: by discovery. */
  readonly jwksUrl: string | null;
  /** Names a claim, or with dots one within another, such as `realm_access.roles`. */
  readonly roleClaim: string;
  readonly nameClaim: string;
  /** The first whose value the claim has counts. */
  readonly roles: readonly OidcRole[];
};

export type Oidc = {
  /** Whether a bearer token looks like one of theirs. */
  readonly isFor: (token: string) => boolean;
  readonly identify: (token: string) => Promise<Identified>;
};

/** Asymmetric only: with a shared secret whoever verifies could also sign, and a public key would do as one. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;
/** By how much the provider's clock and ours may differ. */
const CLOCK_TOLERANCE_S = 30;

type Parts = { readonly clock: Clock; readonly log: Logger; readonly metrics: Metrics };

export const createOidc = (settings: OidcSettings, { clock, log, metrics }: Parts): Oidc => {
  const { issuer, audience } = settings;
  const { keyFor } = createOidcKeys({ issuer, jwksUrl: settings.jwksUrl, clock, log, metrics });
  return {
    isFor: (token) => /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/.test(token),
    identify: async (token) => {
      try {
        const { payload } = await jwtVerify(token, keyFor, {
          ...{ issuer, audience, algorithms: [...ALGORITHMS], clockTolerance: CLOCK_TOLERANCE_S },
          ...{ requiredClaims: ["exp", settings.nameClaim], currentDate: new Date(clock.epochMs()) },
        });
        return personOf(payload, settings);
      } catch (cause) {
        return refusalOf(cause);
      }
    },
  };
};

const personOf = (payload: JWTPayload, { roleClaim, nameClaim, roles }: OidcSettings): Identified => {
  const claimed = payload[nameClaim];
  // It is shown to people, and compared by them.
  if (typeof claimed !== "string" || !/^[^\p{C}\p{Z}]{1,120}$/u.test(claimed)) {
    return refused("oidc-invalid", `The claim ${nameClaim} must be 1 to 120 printable characters without spaces.`);
  }
  const name = `oidc:${claimed}`;
  const values = valuesOf(claimAt(payload, roleClaim));
  const given = roles.find(({ value }) => values.includes(value));
  if (given === undefined) {
    const wanted = roles.map(({ value }) => value).join(", ");
    return { kind: "stranger", detail: `${name} has no role here: the claim ${roleClaim} has none of ${wanted}.` };
  }
  return {
    kind: "actor",
    actor: {
      ...{ name, role: given.role, by: "oidc", names: null, scope: scopeOf(given) },
      tokenId: payload.jti === undefined ? null : payload.jti.slice(0, 64),
      expiresAtMs: ((payload.exp ?? 0) + CLOCK_TOLERANCE_S) * 1_000,
    },
  };
};

/** A claim of just that name counts first: names may be URLs, which have dots. */
const claimAt = (payload: JWTPayload, name: string): unknown => {
  if (Object.hasOwn(payload, name)) return payload[name];
  let at: unknown = payload;
  for (const part of name.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[part];
  }
  return at;
};

const valuesOf = (claim: unknown): readonly unknown[] => (Array.isArray(claim) ? claim : [claim]);

/** What is told never repeats what the token says. @throws whatever is a bug */
const refusalOf = (cause: unknown): Identified => {
  if (cause instanceof OperationalError) return refused("oidc-keys", `Nobody can be verified now: ${cause.message}.`);
  if (cause instanceof errors.JWTExpired) return refused("expired", "The identity provider's token has expired.");
  if (cause instanceof errors.JWTClaimValidationFailed) {
    return refused("oidc-invalid", `The token's claim ${cause.claim} is not what admin.auth.oidc asks for.`);
  }
  if (cause instanceof errors.JOSEAlgNotAllowed) {
    return refused("oidc-invalid", `The token must be signed by one of ${ALGORITHMS.join(", ")}.`);
  }
  if (cause instanceof errors.JWKSNoMatchingKey || cause instanceof errors.JWKSMultipleMatchingKeys) {
    return refused("oidc-invalid", "None of the identity provider's keys, or more than one, fits the token.");
  }
  if (cause instanceof errors.JWSSignatureVerificationFailed) {
    return refused("oidc-invalid", "The token's signature is not the identity provider's.");
  }
  if (cause instanceof errors.JOSEError) return refused("oidc-invalid", "That is no token of an identity provider.");
  throw cause;
};
