/** Serves the page: made when it is first asked for, kept, compressed, and asked for again only by its ETag. */
import type { Context as HonoContext } from "hono";
import type { Logger } from "#shared/logger.ts";
import type { Env } from "../environment.ts";
import { problemOf, problemResponse } from "../problem.ts";
import { type Asset, type Bundle, makeBundle } from "./bundle.ts";

/** What the page is made of. */
export const PAGE_PATHS = ["/", "/main.js", "/main.css", "/icon.svg", "/parts/*"] as const;

export const createPage = (log: Logger, make: () => Promise<Bundle> = makeBundle) => {
  let making: Promise<Bundle> | null = null;
  return async (c: HonoContext<Env>): Promise<Response> => {
    making ??= make();
    const bundle = await making.catch((fault: unknown) => {
      // Asked again, it is tried again.
      making = null;
      log.error("admin.page-failed", { fault: String(fault) });
      return null;
    });
    if (bundle === null)
      return problemResponse(problemOf("internal-error", "The page could not be made; see the log."));
    const asset = bundle.get(c.req.path === "/" ? "/index.html" : c.req.path);
    if (asset === undefined) return problemResponse(problemOf("not-found", `There is no ${c.req.path}.`));
    return answerOf(asset, c.req.path, c.req.header("accept-encoding") ?? "", c.req.header("if-none-match") ?? "");
  };
};

const answerOf = (asset: Asset, path: string, accepted: string, known: string): Response => {
  // The names of parts have the hash of what they hold.
  const keeping = path.startsWith("/parts/") ? "public, max-age=31536000, immutable" : "no-cache";
  const headers = { etag: asset.etag, "cache-control": keeping, vary: "accept-encoding" };
  if (known.includes(asset.etag)) return new Response(null, { status: 304, headers });
  const coding = /\bbr\b/.test(accepted) ? "br" : /\bgzip\b/.test(accepted) ? "gzip" : null;
  const octets = coding === "br" ? asset.brotli : coding === "gzip" ? asset.gzip : asset.plain;
  return new Response(new Uint8Array(octets), {
    headers: {
      ...headers,
      "content-type": asset.type,
      ...(coding === null ? {} : { "content-encoding": coding }),
    },
  });
};
