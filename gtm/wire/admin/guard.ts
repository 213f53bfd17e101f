/** What every request passes before a route sees it: headers, host, size, media type, identity, role. */
import { isIP } from "node:net";
import type { MiddlewareHandler } from "hono";
import type { Metrics } from "#shared/metrics.ts";
import { type Actor, identify, type Scheme, suffices } from "./auth.ts";
import type { Env } from "./environment.ts";
import { problemOf, problemResponse } from "./problem.ts";
import type { Role, TokensFile } from "./tokens-file.ts";

type Middleware = MiddlewareHandler<Env>;

/** No body of this API is longer than a comment and a few names. */
const MOST_BODY_BYTES = 65_536;

/** On every answer, errors included. */
export const secureHeaders: Middleware = async (c, next) => {
  await next();
  if (!c.res.headers.has("cache-control")) c.header("Cache-Control", "no-store");
  c.header("X-Content-Type-Options", "nosniff");
  c.header("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'");
  c.header("Referrer-Policy", "no-referrer");
};

/** Reads the whole body, so that routes find it whether or not its length was announced. */
export const limitBody: Middleware = async (c, next) => {
  const announced = Number(c.req.header("content-length") ?? 0);
  if (announced > MOST_BODY_BYTES) return tooLarge();
  if (!takesBody(c.req.method)) return next();
  const text = await textOf(c.req.raw.body);
  if (text === null) return tooLarge();
  c.req.raw = new Request(c.req.url, { method: c.req.method, headers: c.req.header(), body: text });
  return next();
};

const tooLarge = (): Response =>
  problemResponse(problemOf("body-too-large", `At most ${MOST_BODY_BYTES} bytes are read.`));

/** null: there is more than is read. */
const textOf = async (body: ReadableStream<Uint8Array> | null): Promise<string | null> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.byteLength;
    if (length > MOST_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
};

const takesBody = (method: string): boolean => method === "POST" || method === "PATCH";

const JSON_TYPE = /^application\/json *(?:;|$)/i;

/** A form that a foreign page submits is never JSON; what is, the browser asks about first, and nobody says yes. */
export const requireJson: Middleware = async (c, next) => {
  const found = c.req.header("content-type") ?? "none";
  // About anything else but GET the browser asks first, too.
  if (c.req.method === "POST" && !JSON_TYPE.test(found)) {
    return problemResponse(
      problemOf("unsupported-media-type", `Expected application/json, found ${found.slice(0, 100)}.`),
    );
  }
  return next();
};

/**
 * Without tokens only this host may connect; a name that somebody else's DNS points here must not come along
 * (DNS rebinding).
 */
const isLoopbackHost = (host: string | undefined): boolean => {
  const name = /^(\[[^\]]*\]|[^:]*)(?::[0-9]+)?$/.exec(host ?? "")?.[1]?.toLowerCase() ?? "";
  return name === "localhost" || name === "[::1]" || (isIP(name) === 4 && name.startsWith("127."));
};

/** @param tokens null: none are configured */
export const authenticate = (tokens: TokensFile | null, metrics: Metrics): Middleware => {
  const failures = metrics.counter({
    name: "gtm_admin_auth_failures_total",
    help: "Requests to the admin API that named nobody, or somebody who may not.",
    labels: ["cause"],
  });
  return async (c, next) => {
    if (tokens === null) {
      if (!isLoopbackHost(c.req.header("host"))) {
        failures.inc({ cause: "host" });
        return problemResponse(problemOf("misdirected", "Without tokens the API answers to loopback names only."));
      }
      c.set("actor", LOCAL);
      return next();
    }
    const scheme = schemeFor(c.req.path);
    const identified = identify(c.req.header("authorization"), tokens.entries(), scheme);
    if (identified.kind === "refused") {
      failures.inc({ cause: identified.why });
      const bearer =
        // RFC 6750 §3: without credentials only the scheme.
        identified.why === "missing" ? 'Bearer realm="gtm"' : 'Bearer realm="gtm", error="invalid_token"';
      return problemResponse(problemOf("unauthorized", REFUSALS[identified.why]), {
        "www-authenticate": scheme === "any" ? `${bearer}, Basic realm="gtm acme", charset="UTF-8"` : bearer,
      });
    }
    c.set("actor", identified.actor);
    return next();
  };
};

/** A browser sends a password again wherever on the host it is asked for: it counts for the calls that need it, and no others. */
const schemeFor = (path: string): Scheme => (isHttpreq(path) ? "any" : "bearer");

const isHttpreq = (path: string): boolean => path.startsWith("/acme/");

const LOCAL: Actor = { name: "loopback", role: "admin", by: "loopback", names: null };

const REFUSALS = {
  missing: "Send a token as `Authorization: Bearer gtm_…`.",
  malformed: "The Authorization header is not of the form `Bearer TOKEN`.",
  unknown: "The token is not in the tokens file.",
} as const;

/**
 * Reading needs a viewer, and so does an explanation, which changes nothing. Whoever can answer a challenge can have a certificate
 * of the zone: that is more than an order. Everything else needs an operator.
 */
export const authorize = (metrics: Metrics): Middleware => {
  const failures = metrics.counter({
    name: "gtm_admin_auth_failures_total",
    help: "Requests to the admin API that named nobody, or somebody who may not.",
    labels: ["cause"],
  });
  return async (c, next) => {
    const needed = neededFor(c.req.method, c.req.path);
    const actor = c.get("actor");
    if (!suffices(actor, needed)) {
      failures.inc({ cause: "forbidden" });
      return problemResponse(problemOf("forbidden", `This needs the role ${needed}; ${actor.name} is ${actor.role}.`), {
        "www-authenticate": 'Bearer realm="gtm", error="insufficient_scope"',
      });
    }
    return next();
  };
};

/** Asked by POST for the length of what is asked; nothing is changed. */
export const LOOKS_ONLY: ReadonlySet<string> = new Set(["/api/v1/explain", "/api/v1/what-if"]);

/** @param method in upper case; @param path as it is asked for, /api/v1 included */
export const neededFor = (method: string, path: string): Role => {
  if (isHttpreq(path)) return "acme";
  if (method === "GET" || method === "HEAD" || LOOKS_ONLY.has(path)) return "viewer";
  return /^\/api\/v1\/acme-challenges(?:\/|$)/.test(path) ? "admin" : "operator";
};
