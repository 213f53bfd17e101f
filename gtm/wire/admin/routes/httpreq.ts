/** The two calls of lego's `httpreq` provider, which others speak too: https://go-acme.github.io/lego/dns/httpreq */
import { createRoute, z } from "@hono/zod-openapi";
import {
  ChallengeName,
  ChallengeValue,
  DEFAULT_FOR_MS,
  mustBeAllowed,
  notOurs,
  present,
} from "../challenge-request.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { refuse } from "../problem.ts";
import { answers, jsonBody } from "../route-parts.ts";

const RAW = "HTTPREQ_MODE=RAW is not spoken: leave HTTPREQ_MODE out, and lego sends fqdn and value";

const Challenge = z
  .strictObject(
    { fqdn: ChallengeName, value: ChallengeValue },
    { error: ({ code, keys }) => (code === "unrecognized_keys" && String(keys).includes("keyAuth") ? RAW : undefined) },
  )
  .openapi("HttpreqChallenge");
const Done = z.looseObject({ fqdn: z.string(), value: z.string() }).openapi("HttpreqDone");

const route = <Path extends string>(path: Path, summary: string) =>
  createRoute({
    method: "post",
    path,
    tags: ["acme"],
    summary,
    description: "For tokens of the role acme, and admins. Calling it again does no harm.",
    security: [{ basic: [] }, { bearer: [] }],
    request: { body: jsonBody(Challenge) },
    responses: answers(Done, "Done, on this GTM; within a second on every other"),
  });

export const httpreqRoutes = ({ ports }: Context): Router =>
  createRouter()
    .openapi(route("/present", "Answer a challenge for ten minutes"), async (c) => {
      const { fqdn, value } = c.req.valid("json");
      await present(ports.acme, { name: fqdn, value, forMs: DEFAULT_FOR_MS, isDryRun: false }, c.get("actor"));
      return c.json({ fqdn, value }, 200);
    })
    .openapi(route("/cleanup", "No longer answer what this token presented"), async (c) => {
      const { fqdn, value } = c.req.valid("json");
      const actor = c.get("actor");
      mustBeAllowed(actor, fqdn);
      const outcome = await ports.acme.cleanup(fqdn, { value, actor: actor.name });
      if (outcome.kind === "not-ours") throw notOurs(fqdn);
      // What is not there any more is as cleaned up as it can be.
      if (outcome.values > 0 || outcome.others === 0) return c.json({ fqdn, value }, 200);
      throw refuse("forbidden", `Somebody else presented this value of ${fqdn}, and keeps it.`);
    });
