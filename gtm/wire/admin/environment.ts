/** What every route of the admin API can reach: the request's socket, who asks, and the rest of the GTM. */
import type { HttpBindings } from "@hono/node-server";
import { OpenAPIHono, type z } from "@hono/zod-openapi";
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { Actor } from "./auth.ts";
import type { Authenticator } from "./authenticator.ts";
import type { ConversationTurns } from "./conversation-turns.ts";
import type { EventStreams } from "./event-streams.ts";
import type { AdminPorts } from "./ports.ts";
import { problemOf, problemResponse } from "./problem.ts";
import type { Recent } from "./recent.ts";
import type { RegionHistory } from "./region-history.ts";

export type Env = { Bindings: HttpBindings; Variables: { actor: Actor } };

export type Context = {
  readonly ports: AdminPorts;
  readonly clock: Clock;
  readonly log: Logger;
  readonly streams: EventStreams;
  readonly recent: Recent;
  readonly history: RegionHistory;
  readonly conversationTurns: ConversationTurns;
  readonly auth: Authenticator;
  /** The longest that a token may stand which is made by this API. */
  readonly mostTokenMs: () => number;
  /** When the API was made, on the instance's monotonic clock. */
  readonly startedAtMs: number;
};

export type Router = OpenAPIHono<Env>;

/** A router whose refused requests say every fault at once. */
export const createRouter = (): Router =>
  new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (result.success) return undefined;
      const faults = result.error.issues.map((issue) => faultOf(issue, result.target));
      const detail = faults.map(({ at, message }) => `${at}: ${message}`).join("; ");
      return problemResponse(problemOf("malformed-request", detail, { faults }));
    },
  });

const PLACES: Readonly<Record<string, string>> = { json: "body", param: "path" };

const faultOf = (issue: z.core.$ZodIssue, target: string): { at: string; message: string } => ({
  at: [PLACES[target] ?? target, ...issue.path.map(String)].join("."),
  message: issue.message,
});
