/** What each route needs: a role, and how much of the traffic it concerns. A route that is not here is for unlimited admins. */
import type { Deed } from "./access.ts";
import type { Role } from "./tokens-file.ts";

/**
 * `caller`: nothing that belongs to anybody. `own`: the route itself shows and changes only what the scope covers.
 * `whole`: all pools and tenants, and to change it all regions, too; `whole-seen`: asked by POST, and changes nothing.
 * `region`: an order about the region that the path names.
 */
export type Concern = "caller" | "own" | "whole" | "whole-seen" | "region";
export type Need = { readonly role: Role; readonly concerns: Concern };

const need = (role: Role, concerns: Concern): Need => ({ role, concerns });

/**
 * By method and path below /api/v1, or the whole path of what is elsewhere. Reading needs a viewer, and so does an explanation,
 * which changes nothing. Whoever can answer a challenge can have a certificate of the zone: that is more than an order.
 */
export const ROUTE_NEEDS: Readonly<Record<string, Need>> = {
  "GET /openapi.json": need("viewer", "caller"),
  "GET /whoami": need("viewer", "caller"),
  "GET /version": need("viewer", "caller"),
  "GET /status": need("viewer", "own"),
  "GET /instances": need("viewer", "whole"),
  "GET /config": need("viewer", "whole"),
  "GET /config/schema": need("viewer", "caller"),
  // Its variables are those of this process.
  "POST /config/check": need("operator", "whole-seen"),
  "POST /config/reload": need("admin", "whole"),
  "GET /recent": need("viewer", "own"),
  "GET /regions": need("viewer", "own"),
  "GET /regions/{id}": need("viewer", "own"),
  "GET /regions/{id}/history": need("viewer", "own"),
  "GET /placements": need("viewer", "own"),
  "POST /regions/{id}/drain": need("operator", "region"),
  "POST /regions/{id}/undrain": need("operator", "region"),
  "POST /regions/{id}/down": need("operator", "region"),
  "POST /regions/{id}/up": need("operator", "region"),
  "GET /overrides": need("viewer", "own"),
  "POST /overrides": need("operator", "own"),
  "GET /overrides/{id}": need("viewer", "own"),
  "PATCH /overrides/{id}": need("operator", "own"),
  "DELETE /overrides/{id}": need("operator", "own"),
  "GET /operations": need("viewer", "own"),
  "GET /operations/{id}": need("viewer", "own"),
  "POST /operations/{id}/cancel": need("operator", "own"),
  "GET /conversations": need("viewer", "own"),
  "GET /conversations/{id}": need("viewer", "own"),
  "DELETE /conversations/{id}": need("operator", "own"),
  "POST /conversations/{id}/move": need("operator", "own"),
  "GET /decisions": need("viewer", "own"),
  "GET /decisions/{id}": need("viewer", "own"),
  "POST /explain": need("viewer", "own"),
  // The whole world is in it.
  "GET /snapshot": need("viewer", "whole"),
  "POST /what-if": need("viewer", "own"),
  "GET /events": need("viewer", "own"),
  "GET /audit": need("viewer", "own"),
  "GET /tokens": need("admin", "own"),
  "POST /tokens": need("admin", "own"),
  "GET /tokens/{id}": need("admin", "own"),
  "PATCH /tokens/{id}": need("admin", "own"),
  "DELETE /tokens/{id}": need("admin", "own"),
  "GET /agents": need("viewer", "whole"),
  "GET /models": need("viewer", "own"),
  "GET /zones": need("viewer", "whole"),
  "GET /zones/{zone}/records": need("viewer", "whole"),
  "GET /zones/{zone}/delegation": need("viewer", "whole"),
  // It asks strangers' servers.
  "POST /zones/{zone}/delegation/check": need("operator", "whole-seen"),
  "GET /acme-challenges": need("viewer", "whole"),
  "POST /acme-challenges": need("admin", "whole"),
  "DELETE /acme-challenges/{name}": need("admin", "whole"),
  "POST /acme/present": need("acme", "whole"),
  "POST /acme/cleanup": need("acme", "whole"),
};

/** For a route that nobody has thought about. */
export const UNDECLARED: Need = need("admin", "whole");

const BASE = "/api/v1";

/** A route's name in the table. @param path as a router or the OpenAPI document has it */
export const routeName = (method: string, path: string): string => {
  const below = path.startsWith(`${BASE}/`) ? path.slice(BASE.length) : path;
  return `${method === "HEAD" ? "GET" : method.toUpperCase()} ${below.replace(/:([A-Za-z]+)/g, "{$1}")}`;
};

/** @param path the route's pattern, not what was asked for */
export const needOf = (method: string, path: string): Need => ROUTE_NEEDS[routeName(method, path)] ?? UNDECLARED;

/** What is asked for of whoever calls the route. @param subject what stands in the pattern's first parameter; null: it has none */
export const deedOf = ({ concerns }: Need, method: string, subject: string | null): Deed => {
  switch (concerns) {
    case "caller":
    case "own":
      return { kind: "any" };
    case "whole":
      return { kind: method === "GET" || method === "HEAD" ? "see-whole" : "change-whole" };
    case "whole-seen":
      return { kind: "see-whole" };
    case "region":
      return { kind: "order-region", region: subject ?? "*" };
  }
};

export type Registered = { readonly method: string; readonly path: string };
export type Asked = { readonly pattern: string; readonly subject: string | null };

/** The route that a request is for. @returns null: there is none, and it will be told so */
export const routeFor = (routes: readonly Registered[], method: string, path: string): Asked | null => {
  const wanted = method === "HEAD" ? "GET" : method;
  const parts = path.split("/");
  for (const { method: has, path: pattern } of routes) {
    if (has !== wanted) continue;
    const pieces = piecesOf(pattern);
    const fits = pieces.length === parts.length && pieces.every((one, at) => one.startsWith(":") || one === parts[at]);
    if (!fits) continue;
    const at = pieces.findIndex((one) => one.startsWith(":"));
    return { pattern, subject: at < 0 ? null : decoded(parts[at] ?? "") };
  }
  return null;
};

const split = new Map<string, readonly string[]>();
/** There are as many patterns as routes, and each request is compared with them. */
const piecesOf = (pattern: string): readonly string[] => {
  const before = split.get(pattern);
  if (before !== undefined) return before;
  const pieces = pattern.split("/");
  split.set(pattern, pieces);
  return pieces;
};

/** As the router decodes it. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
