/** Whom a request comes from, and whether they may: before a route sees it. */
import { isIP } from "node:net";
import type { MiddlewareHandler } from "hono";
import type { Metrics } from "#shared/metrics.ts";
import { type Deed, type Denial, denial } from "./access.ts";
import { type Actor, type Identified, LOCAL, type Scheme } from "./auth.ts";
import type { Authenticator } from "./authenticator.ts";
import type { Env } from "./environment.ts";
import type { FailedLogins } from "./failed-logins.ts";
import { type Problem, ProblemError, problemOf, problemResponse } from "./problem.ts";
import { deedOf, type Need, needOf, type Registered, routeFor } from "./route-needs.ts";
import type { Role } from "./tokens-file.ts";

type Middleware = MiddlewareHandler<Env>;

const failuresOf = (metrics: Metrics) =>
  metrics.counter({
    name: "gtm_admin_auth_failures_total",
    help: "Requests to the admin API that named nobody, or somebody who may not.",
    labels: ["cause"],
  });

export const authenticate = (auth: Authenticator, logins: FailedLogins, metrics: Metrics): Middleware => {
  const failures = failuresOf(metrics);
  return async (c, next) => {
    if (!auth.asksForTokens) {
      if (!isLoopbackHost(c.req.header("host"))) {
        failures.inc({ cause: "host" });
        return problemResponse(problemOf("misdirected", "Without tokens the API answers to loopback names only."));
      }
      c.set("actor", LOCAL);
      return next();
    }
    const scheme = schemeFor(c.req.path);
    const identified = await auth.identify(c.req.header("authorization"), scheme);
    if (identified.kind === "actor") {
      c.set("actor", identified.actor);
      return next();
    }
    failures.inc({ cause: identified.kind === "stranger" ? "stranger" : identified.why });
    if (identified.kind === "stranger") return problemResponse(problemOf("forbidden", identified.detail), INSUFFICIENT);
    // Who sends nothing tries nothing.
    const waitSeconds = identified.why === "missing" ? null : logins.failed(c.env.incoming.socket.remoteAddress);
    return waitSeconds === null ? unauthorized(identified, scheme) : tooMany(identified, waitSeconds);
  };
};

type Refused = Extract<Identified, { kind: "refused" }>;

const unauthorized = ({ why, detail }: Refused, scheme: Scheme): Response => {
  // RFC 6750 §3: without credentials only the scheme.
  const bearer = why === "missing" ? 'Bearer realm="gtm"' : 'Bearer realm="gtm", error="invalid_token"';
  return problemResponse(problemOf("unauthorized", detail), {
    "www-authenticate": scheme === "any" ? `${bearer}, Basic realm="gtm acme", charset="UTF-8"` : bearer,
  });
};

const tooMany = ({ detail }: Refused, waitSeconds: number): Response =>
  problemResponse(
    problemOf(
      "too-many-failures",
      `Too many requests from your network brought no valid token. The last one: ${detail}`,
    ),
    { "retry-after": String(waitSeconds) },
  );

/** A browser sends a password again wherever on the host it is asked for: it counts for the calls that need it, and no others. */
const schemeFor = (path: string): Scheme => (path.startsWith("/acme/") ? "any" : "bearer");

/**
 * Without tokens only this host may connect; a name that somebody else's DNS points here must not come along
 * (DNS rebinding).
 */
const isLoopbackHost = (host: string | undefined): boolean => {
  const name = /^(\[[^\]]*\]|[^:]*)(?::[0-9]+)?$/.exec(host ?? "")?.[1]?.toLowerCase() ?? "";
  return name === "localhost" || name === "[::1]" || (isIP(name) === 4 && name.startsWith("127."));
};

/** RFC 6750 §3.1. */
const INSUFFICIENT = { "www-authenticate": 'Bearer realm="gtm", error="insufficient_scope"' };

/** For what is no route, which everybody may be told. */
const NOWHERE: Need = { role: "viewer", concerns: "caller" };

/** @param routes those there are, once there are */
export const authorize = (routes: () => readonly Registered[], metrics: Metrics): Middleware => {
  const failures = failuresOf(metrics);
  return async (c, next) => {
    const { method, path } = c.req;
    const asked = routeFor(routes(), method, path);
    const need = asked === null ? NOWHERE : needOf(method, asked.pattern);
    const denied = denial(c.get("actor"), need.role, deedOf(need, method, asked?.subject ?? null));
    if (denied !== null) {
      failures.inc({ cause: "forbidden" });
      return problemResponse(forbidden(denied), INSUFFICIENT);
    }
    // A route that looks closer may say no as well.
    await next();
    if (c.res.status === 403 && c.res.headers.get("www-authenticate") !== null) failures.inc({ cause: "forbidden" });
    return undefined;
  };
};

const forbidden = ({ missing, needed, detail }: Denial): Problem =>
  problemOf("forbidden", detail, { missing: { what: missing, needed } });

/** For routes that find out what is asked for only when they have read it. @throws {ProblemError} 403 */
export const mustMay = (actor: Actor, role: Role, deed: Deed): void => {
  const denied = denial(actor, role, deed);
  if (denied !== null) throw new ProblemError(forbidden(denied), INSUFFICIENT);
};
