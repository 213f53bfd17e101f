/** The configuration: what stands, its form, what another would do, and the order to read the file again. */
import { createRoute, z } from "@hono/zod-openapi";
import { ConfigOutcome, ConfigView, configView, faultsView, planView } from "../config-view.ts";
import type { ConfigReload } from "../configuration-port.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { dryRunQuery, isDryRun } from "../order-query.ts";
import { refuse } from "../problem.ts";
import { answers, BEARER, jsonBody } from "../route-parts.ts";

/** As long as a file may be. */
const MOST_CHARACTERS = 1_048_576;

const CheckBody = z
  .strictObject({ yaml: z.string().max(MOST_CHARACTERS).openapi({ description: "The text of a configuration" }) })
  .openapi("ConfigCheckBody");

const ReloadBody = z.strictObject({ comment: z.string().min(1).max(1_000).optional() }).openapi("ConfigReloadBody");

const JsonSchema = z.looseObject({}).openapi("JsonSchema");

export const configRoutes = ({ ports, clock }: Context): Router => {
  const { configuration } = ports;
  return createRouter()
    .openapi(
      createRoute({
        method: "get",
        path: "/config",
        tags: ["config"],
        summary: "The configuration that stands, what waits for a restart, and what is wrong with the file",
        security: BEARER,
        responses: answers(ConfigView, "By section; secrets are left out"),
      }),
      (c) => c.json(configView(configuration.state(), ports.instance, clock.epochMs()), 200),
    )
    .openapi(
      createRoute({
        method: "get",
        path: "/config/schema",
        tags: ["config"],
        summary: "The form of the configuration as JSON Schema, draft 2020-12",
        security: BEARER,
        responses: answers(JsonSchema, "What editors complete and check by"),
      }),
      (c) => c.json(configuration.schema(), 200),
    )
    .openapi(
      createRoute({
        method: "post",
        path: "/config/check",
        tags: ["config"],
        summary: "What is wrong with a text, or what it would do in the place of the configuration that stands",
        description:
          "Changes nothing and reads none of the files that it names. Variables are those of this GTM's environment; their values are not told.",
        security: BEARER,
        request: { body: jsonBody(CheckBody) },
        responses: answers(ConfigOutcome, "`sound` with the plan, or `faulty` with every fault"),
      }),
      (c) => {
        const candidate = configuration.check(c.req.valid("json").yaml);
        const told =
          candidate.kind === "sound"
            ? { outcome: "sound", faults: [], plan: planView(candidate.plan) }
            : { outcome: "faulty", faults: faultsView(candidate.faults), plan: null };
        return c.json({ ...told, isDryRun: true }, 200);
      },
    )
    .openapi(
      createRoute({
        method: "post",
        path: "/config/reload",
        tags: ["config"],
        summary: "Read the file again and decide by it from now on, as SIGHUP does",
        description:
          "With dry_run=true the answer is the plan. A file that cannot be used is refused (409), with its faults, and the configuration that stood stands. Settings that need a restart are in the plan, and wait.",
        security: BEARER,
        request: { query: dryRunQuery, body: jsonBody(ReloadBody) },
        responses: answers(ConfigOutcome, "`taken`, or `unchanged` where nothing that runs differs"),
      }),
      (c) => {
        const isDry = isDryRun(c.req.valid("query"));
        return c.json(outcomeOf(isDry ? configuration.preview() : configuration.reload("api"), isDry), 200);
      },
    );
};

/** For whoever reads faults without their other fields. */
const placeOf = ({ line, at }: { readonly line: number | null; readonly at: string }): string =>
  [lineText(line), at].filter((one) => one !== "").join(": ");

/** In the sentence; all of them stand beside it. */
const MOST_TOLD = 20;

const lineText = (line: number | null): string => (line === null ? "" : `line ${line}`);

const outcomeOf = (reload: ConfigReload, isDryRun: boolean): ConfigOutcome => {
  switch (reload.kind) {
    case "no-file":
      throw refuse("no-config-file", "This GTM was not started with a file that could be read again.");
    case "refused": {
      const faults = faultsView(reload.faults);
      const stands = isDryRun ? "It would be refused" : "The configuration before it stands";
      const told = faults
        .slice(0, MOST_TOLD)
        .map(({ line, at, message }) => [lineText(line), at, message].filter((one) => one !== "").join(": "));
      throw refuse("config-refused", `${stands}; ${told.join("; ")}.`, {
        faults: faults.map((fault) => ({ ...fault, at: placeOf(fault) })),
      });
    }
    case "taken":
    case "unchanged":
      return { outcome: reload.kind, isDryRun, faults: [], plan: planView(reload.plan) };
  }
};
