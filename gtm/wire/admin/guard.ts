/** What every request passes before a route sees it, whoever asks: headers, origin, size, media type. */
import type { MiddlewareHandler } from "hono";
import type { Env } from "./environment.ts";
import { problemOf, problemResponse } from "./problem.ts";
import { needOf } from "./route-needs.ts";
import type { Role } from "./tokens-file.ts";

type Middleware = MiddlewareHandler<Env>;

/** No body of this API is longer than a comment and a few names. */
const MOST_BODY_BYTES = 65_536;
/** But for a whole configuration: a megabyte, and what JSON makes of its line feeds and quotes. */
const CONFIG_CHECK = "/api/v1/config/check";
const MOST_CONFIG_BYTES = 2_097_152;

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
  const most = c.req.path === CONFIG_CHECK ? MOST_CONFIG_BYTES : MOST_BODY_BYTES;
  if (announced > most) return tooLarge(most);
  if (!takesBody(c.req.method)) return next();
  const text = await textOf(c.req.raw.body, most);
  if (text === null) return tooLarge(most);
  c.req.raw = new Request(c.req.url, { method: c.req.method, headers: c.req.header(), body: text });
  return next();
};

const tooLarge = (most: number): Response =>
  problemResponse(problemOf("body-too-large", `At most ${most} bytes are read.`));

/** null: there is more than is read. */
const textOf = async (body: ReadableStream<Uint8Array> | null, most: number): Promise<string | null> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.byteLength;
    if (length > most) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
};

const takesBody = (method: string): boolean => method === "POST" || method === "PATCH";

const JSON_TYPE = /^application\/json *(?:;|$)/i;

/**
 * A form that a foreign page submits is never JSON; what is, the browser asks about first, and nobody says yes. About anything
 * else but GET and POST it asks, too; what is no JSON all the same is not read as if it were.
 */
export const requireJson: Middleware = async (c, next) => {
  const found = c.req.header("content-type");
  const { method } = c.req;
  const isWrong = method === "POST" ? !JSON_TYPE.test(found ?? "") : found !== undefined && !JSON_TYPE.test(found);
  if (isWrong && method !== "GET" && method !== "HEAD") {
    const detail = `Expected application/json, found ${(found ?? "none").slice(0, 100)}.`;
    return problemResponse(problemOf("unsupported-media-type", detail));
  }
  return next();
};

/**
 * A page of somewhere else has no business here, not even a request whose answer it may not read: it could take all event
 * streams. Browsers say where a request comes from, and no page can make them lie; programs say nothing.
 */
export const sameOrigin: Middleware = async (c, next) => {
  const site = c.req.header("sec-fetch-site");
  const origin = c.req.header("origin");
  const isForeign =
    site === undefined
      ? origin !== undefined && URL.parse(origin)?.host !== c.req.header("host")?.toLowerCase()
      : site !== "same-origin" && site !== "none";
  if (!isForeign) return next();
  return problemResponse(problemOf("cross-origin", "A page of another origin asks, and gets nothing here."));
};

/** Asked by POST for the length of what is asked; nothing is changed. */
export const LOOKS_ONLY: ReadonlySet<string> = new Set(["/api/v1/explain", "/api/v1/what-if", CONFIG_CHECK]);

/** The role that a route asks for. @param method in upper case; @param path the route's, /api/v1 included */
export const neededFor = (method: string, path: string): Role => needOf(method, path).role;
