/** Keeps what people do at the admin API: every request that changes something, or tried to. */
import type { MiddlewareHandler } from "hono";
import type { Clock } from "#shared/clock.ts";
import type { Env } from "./environment.ts";
import { LOOKS_ONLY } from "./guard.ts";
import type { AdminPorts } from "./ports.ts";

/** A longer body is left out: an entry is read by people. */
const MOST_BODY_CHARACTERS = 4_096;

type Request = { readonly method: string; readonly path: string; readonly isDryRun: boolean };

/** What only looks is not kept: reading, explaining, planning. */
export const isChange = ({ method, path, isDryRun }: Request): boolean =>
  method !== "GET" && method !== "HEAD" && method !== "OPTIONS" && !LOOKS_ONLY.has(path) && !isDryRun;

export const keepAudit =
  (ports: Pick<AdminPorts, "audit" | "instance">, clock: Pick<Clock, "epochMs">): MiddlewareHandler<Env> =>
  async (c, next) => {
    await next();
    const { method, path } = c.req;
    if (!isChange({ method, path, isDryRun: c.req.query("dry_run") === "true" })) return;
    const { name, role, tokenId } = c.get("actor");
    ports.audit.record({
      v: 1,
      atMs: Math.floor(clock.epochMs()),
      instance: ports.instance,
      actor: name,
      role,
      tokenId,
      method: method.slice(0, 16),
      path: path.slice(0, 512),
      overrideRule: c.req.query("override_rule")?.slice(0, 128) ?? null,
      body: bodyOf(await c.req.text().catch(() => "")),
      status: c.res.status,
    });
  };

/** null: none, not JSON, or too long. */
const bodyOf = (text: string): unknown => {
  if (text === "" || text.length > MOST_BODY_CHARACTERS) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
