/** The keys of an identity provider: fetched by discovery or from their address, kept while it is away, fetched again when they change. */
import {
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  type JWSHeaderParameters,
  type JWTVerifyGetKey,
} from "jose";
import { z } from "zod";
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";

export type OidcKeysOptions = {
  readonly issuer: string;
  /** null: what the issuer's discovery document says. */
  readonly jwksUrl: string | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
};

export type OidcKeys = {
  /** For jose; @throws {OperationalError} GTM_OIDC_KEYS_UNAVAILABLE, or jose's errors where none of the keys fits. */
  readonly keyFor: JWTVerifyGetKey;
};

/** Providers publish a new key well before they sign with it, and withdraw an old one well after. */
const FETCHED_EVERY_MS = 600_000;
/** A header that names an unknown key makes us look again, and anybody can send one. */
const NOT_SOONER_MS = 30_000;
/** A provider that is away signs nothing new, and what it signed ends by itself. */
const MOST_AGE_MS = 86_400_000;
const DEADLINE_MS = 5_000;
const MOST_BYTES = 262_144;

const Discovery = z.looseObject({ issuer: z.string(), jwks_uri: z.string() });
const KeySet = z.looseObject({
  keys: z
    .array(z.looseObject({ kty: z.string() }))
    .min(1)
    .max(64),
});

type Resolver = (
  header?: JWSHeaderParameters,
  token?: FlattenedJWSInput,
) => ReturnType<ReturnType<typeof createLocalJWKSet>>;

export const createOidcKeys = ({ issuer, jwksUrl, clock, log, metrics }: OidcKeysOptions): OidcKeys => {
  const fetches = metrics.counter({
    name: "gtm_admin_oidc_fetches_total",
    help: "Times that the identity provider's keys were fetched, by outcome.",
    labels: ["outcome"],
  });
  let held: { readonly find: Resolver; readonly fetchedAtMs: number } | null = null;
  let triedAtMs: number | null = null;
  /** Of the newest attempt; null: it went well. */
  let fault: string | null = null;
  let fetching: Promise<void> | null = null;

  const fetchOnce = async (): Promise<void> => {
    triedAtMs = clock.monotonicMs();
    try {
      const from = jwksUrl ?? (await discovered(issuer));
      const keys = parsed(KeySet, await jsonAt(from), from);
      held = { find: createLocalJWKSet(keys as Parameters<typeof createLocalJWKSet>[0]), fetchedAtMs: triedAtMs };
      fault = null;
      fetches.inc({ outcome: "ok" });
    } catch (cause) {
      fault = reasonOf(cause);
      fetches.inc({ outcome: "failed" });
      log.warn("oidc.keys-unavailable", { issuer, reason: fault, heldForMs: heldForMs() });
    }
  };
  const fetchAgain = (): Promise<void> => {
    fetching ??= fetchOnce().finally(() => {
      fetching = null;
    });
    return fetching;
  };
  const heldForMs = (): number | null => (held === null ? null : Math.round(clock.monotonicMs() - held.fetchedAtMs));
  const mayTry = (): boolean => triedAtMs === null || clock.monotonicMs() - triedAtMs >= NOT_SOONER_MS;

  const finder = async (): Promise<Resolver> => {
    const ageMs = heldForMs();
    if ((ageMs === null || ageMs > MOST_AGE_MS) && (mayTry() || fetching !== null)) await fetchAgain();
    else if (ageMs !== null && ageMs > FETCHED_EVERY_MS && mayTry()) void fetchAgain();
    if (held !== null && (heldForMs() ?? 0) <= MOST_AGE_MS) return held.find;
    throw new OperationalError(
      "GTM_OIDC_KEYS_UNAVAILABLE",
      `the keys of ${issuer} could not be fetched: ${fault ?? "no answer yet"}`,
    );
  };
  return {
    keyFor: async (header, token) => {
      const find = await finder();
      try {
        return await find(header, token);
      } catch (cause) {
        if (!(cause instanceof errors.JWKSNoMatchingKey) || !mayTry()) throw cause;
        await fetchAgain();
        return (held?.find ?? find)(header, token);
      }
    },
  };
};

/** OpenID Connect Discovery 1.0 §4: below the issuer, and it must name itself. */
const discovered = async (issuer: string): Promise<string> => {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const found = parsed(Discovery, await jsonAt(url), url);
  if (found.issuer !== issuer) throw new Error(`${url} names another issuer than admin.auth.oidc.issuer`);
  if (!isSecure(found.jwks_uri)) throw new Error(`${url}: jwks_uri must be https`);
  return found.jwks_uri;
};

/** In clear only on this host. */
export const isSecure = (text: string): boolean => {
  const url = URL.parse(text);
  if (url === null) return false;
  const isLoopback =
    url.hostname === "localhost" || url.hostname === "[::1]" || /^127(?:\.[0-9]+){3}$/.test(url.hostname);
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback);
};

const parsed = <S extends z.ZodType>(schema: S, body: unknown, url: string): z.output<S> => {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new Error(
    `${url}: ${result.error.issues.map(({ path, message }) => `${path.map(String).join(".")} ${message}`).join("; ")}`,
  );
};

const jsonAt = async (url: string): Promise<unknown> => {
  const response = await fetch(url, {
    headers: { accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`${url} answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > MOST_BYTES) throw new Error(`${url} answers with more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new Error(`${url} answers with something else than JSON`);
  }
};

/** fetch hides what happened behind "fetch failed". */
const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause);
  if (cause.name === "TimeoutError") return `no answer within ${DEADLINE_MS / 1_000} s`;
  const inner = cause.cause instanceof Error ? cause.cause : cause;
  const code = "code" in inner && typeof inner.code === "string" ? inner.code : "";
  return (inner.message || code || cause.message).slice(0, 200);
};
