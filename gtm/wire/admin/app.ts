/** The admin API as one application: guards, routes, its own description, and problems for everything else. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { OperationalError } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { authenticate, authorize } from "./admission.ts";
import { keepAudit } from "./audit.ts";
import { createPage, PAGE_PATHS } from "./dashboard/assets.ts";
import type { Context, Env, Router } from "./environment.ts";
import { createFailedLogins } from "./failed-logins.ts";
import { limitBody, neededFor, requireJson, sameOrigin, secureHeaders } from "./guard.ts";
import { completed, type Description } from "./openapi.ts";
import { type ProblemCode, ProblemError, problemOf, problemResponse } from "./problem.ts";
import { acmeRoutes } from "./routes/acme.ts";
import { agentRoutes } from "./routes/agents.ts";
import { auditRoutes } from "./routes/audit.ts";
import { configRoutes } from "./routes/config.ts";
import { conversationRoutes } from "./routes/conversations.ts";
import { decisionRoutes } from "./routes/decisions.ts";
import { eventRoutes } from "./routes/events.ts";
import { explainRoutes } from "./routes/explain.ts";
import { httpreqRoutes } from "./routes/httpreq.ts";
import { instanceRoutes } from "./routes/instances.ts";
import { modelRoutes } from "./routes/models.ts";
import { operationRoutes } from "./routes/operations.ts";
import { orderRoutes } from "./routes/orders.ts";
import { overrideRoutes } from "./routes/overrides.ts";
import { recentRoutes } from "./routes/recent.ts";
import { regionHistoryRoutes } from "./routes/region-history.ts";
import { regionRoutes } from "./routes/regions.ts";
import { snapshotRoutes } from "./routes/snapshot.ts";
import { statusRoutes } from "./routes/status.ts";
import { tokenRoutes } from "./routes/tokens.ts";
import { whatIfRoutes } from "./routes/what-if.ts";
import { zoneRoutes } from "./routes/zones.ts";

export const BASE = "/api/v1";

export const createApp = (context: Context, metrics: Metrics): Router => {
  const app = new OpenAPIHono<Env>();
  app.use(secureHeaders);
  app.use(countRequests(metrics));
  // The page itself says nothing: what it shows it asks for, as anybody does.
  const page = createPage(context.log);
  for (const path of PAGE_PATHS) app.get(path, page);
  app.get("/reference", (c) => c.redirect("/#/reference", 302));
  app.use(sameOrigin);
  app.use(authenticate(context.auth, createFailedLogins(context), metrics));
  // Whoever was refused by their role is in it, too; who names nobody is not.
  app.use(keepAudit(context.ports, context.clock));
  app.use(authorize(() => app.routes, metrics));
  app.use(requireJson);
  app.use(limitBody);
  for (const routes of ROUTES) app.route(BASE, routes(context));
  app.route("/acme", httpreqRoutes(context));
  const description = describe(app, context.ports.version);
  app.get(`${BASE}/openapi.json`, (c) => c.json(description, 200));
  app.notFound((c) => notFound(app, c.req.method, c.req.path));
  app.onError((error) => problemFor(error, context.log, metrics));
  return app;
};

const ROUTES = [
  statusRoutes,
  instanceRoutes,
  configRoutes,
  recentRoutes,
  regionRoutes,
  regionHistoryRoutes,
  agentRoutes,
  modelRoutes,
  zoneRoutes,
  orderRoutes,
  overrideRoutes,
  operationRoutes,
  acmeRoutes,
  auditRoutes,
  tokenRoutes,
  conversationRoutes,
  decisionRoutes,
  explainRoutes,
  snapshotRoutes,
  whatIfRoutes,
  eventRoutes,
] as const;

const describe = (app: Router, version: string) => {
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description:
      "A token of `gtm token create`. Without configured tokens the API is on loopback only and asks for none.",
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "basic", {
    type: "http",
    scheme: "basic",
    description: "The name of a token as user, the token as password; for /acme/present and /acme/cleanup only.",
  });
  const described = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: { title: "llm-gtm admin API", version, license: { name: "Apache-2.0" } },
  });
  return completed(JSON.parse(JSON.stringify(described)) as Description, neededFor);
};

const countRequests = (metrics: Metrics) => {
  const requests = metrics.counter({
    name: "gtm_admin_requests_total",
    help: "Requests to the admin API by method and status.",
    labels: ["method", "status"],
  });
  const known = new Set(["GET", "HEAD", "POST", "PATCH", "DELETE"]);
  return async (c: { req: { method: string }; res: Response }, next: () => Promise<void>): Promise<void> => {
    await next();
    requests.inc({ method: known.has(c.req.method) ? c.req.method : "other", status: String(c.res.status) });
  };
};

/** RFC 9110 §15.5.6: an address that exists under other methods says which. */
const notFound = (app: Router, method: string, path: string): Response => {
  const allowed = [
    ...new Set(app.routes.filter((one) => one.method !== "ALL" && fits(one.path, path)).map((one) => one.method)),
  ];
  if (allowed.length === 0)
    return problemResponse(problemOf("not-found", `There is no ${path}; see ${BASE}/openapi.json.`));
  const detail = `${path} takes ${allowed.join(", ")}, not ${method}.`;
  return problemResponse(problemOf("method-not-allowed", detail), { allow: allowed.join(", ") });
};

const fits = (pattern: string, path: string): boolean => {
  const parts = path.split("/");
  const wanted = pattern.split("/");
  return wanted.length === parts.length && wanted.every((part, i) => part.startsWith(":") || part === parts[i]);
};

const HTTP_CODES: Readonly<Record<number, ProblemCode>> = { 400: "malformed-json", 415: "unsupported-media-type" };

/** It answers and does not do it, or what it holds is not what we could add to. */
const STORE_SAYS_NO: ReadonlySet<string> = new Set(["GTM_STORE_REFUSED", "GTM_RECORD_REFUSED"]);

const problemFor = (error: unknown, log: Logger, metrics: Metrics): Response => {
  if (error instanceof ProblemError) return problemResponse(error.problem, error.headers);
  if (error instanceof HTTPException) {
    const code = HTTP_CODES[error.status];
    if (code !== undefined) return problemResponse(problemOf(code, error.message));
  }
  if (error instanceof OperationalError && error.code === "GTM_STORE_UNREACHABLE") {
    const detail = "Nothing was changed. Try again when the store is back.";
    return problemResponse(problemOf("store-unreachable", detail, { cause: error.code }), { "retry-after": "5" });
  }
  if (error instanceof OperationalError && STORE_SAYS_NO.has(error.code)) {
    const detail = `Nothing was changed. The store would not: ${error.message}.`;
    return problemResponse(problemOf("store-refused", detail, { cause: error.code }), { "retry-after": "5" });
  }
  metrics
    .counter({ name: "gtm_admin_bugs_total", help: "Requests to the admin API that met a fault of the GTM itself." })
    .inc();
  log.error("admin.bug", { stack: (error instanceof Error && error.stack) || String(error) });
  return problemResponse(problemOf("internal-error", "The log of this GTM says more (admin.bug)."));
};
