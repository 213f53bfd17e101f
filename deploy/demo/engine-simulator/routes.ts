/** Which path does what. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createAdmits } from "./api-key.ts";
import { readChat, readMessages, readResponses, readText } from "./completion-request.ts";
import { dcgmPage } from "./dcgm-page.ts";
import type { EngineLife } from "./engine-life.ts";
import { CONTENT_TYPE } from "./exposition.ts";
import { flavourRoutes } from "./flavour-routes.ts";
import { readJson } from "./json-body.ts";
import { sendMetrics } from "./metrics-route.ts";
import { modelsPage } from "./models-page.ts";
import type { Modes } from "./modes.ts";
import { apiError } from "./openai-error.ts";
import type { EngineSimulatorOptions } from "./options.ts";
import { sendJson } from "./send-json.ts";
import { type Exchange, serveCompletion } from "./serve-completion.ts";
import { changeModes, hold, stateOf } from "./sim-routes.ts";

export type RouteContext = {
  readonly options: EngineSimulatorOptions;
  readonly modes: Modes;
  readonly life: () => EngineLife;
  readonly restart: () => void;
};

type Handler = (exchange: Exchange) => void | Promise<void>;

export const createRoutes = (
  context: RouteContext,
): ((request: IncomingMessage, response: ServerResponse) => Promise<void>) => {
  const routes = new Map<string, Readonly<Partial<Record<string, Handler>>>>([
    ...modelRoutes(context),
    ...observedRoutes(context),
    ...simRoutes(context),
  ]);
  const admits = createAdmits(context.options.apiKey, context.options.flavour);
  return async (request, response) => {
    if (!admits(request)) {
      request.resume();
      // In vLLM's words, which are not those of its other errors.
      return sendJson(response, 401, { error: "Unauthorized" });
    }
    const [path = "/"] = (request.url ?? "/").split("?");
    const methods = routes.get(path);
    const handler = methods?.[request.method ?? "GET"];
    if (handler !== undefined) return handler({ request, response });
    request.resume();
    const refusal =
      methods === undefined
        ? apiError(404, `there is no ${path}`)
        : apiError(405, `${path} takes ${Object.keys(methods)}`);
    if (methods !== undefined) response.setHeader("allow", Object.keys(methods).join(", "));
    sendJson(response, refusal.status, refusal.body);
  };
};

type Routes = readonly (readonly [string, Readonly<Partial<Record<string, Handler>>>])[];

const modelRoutes = ({ options, modes, life }: RouteContext): Routes => {
  const now = () => ({ options, life: life(), isAsleep: modes.sleep });
  const models: Handler = ({ response }) =>
    sendJson(
      response,
      200,
      modelsPage({
        names: [options.model, ...options.aliases],
        contextLimitTokens: options.contextLimitTokens,
        flavour: options.flavour,
        nowSeconds: Math.floor(options.clock.epochMs() / 1_000),
      }),
    );
  return [
    ["/v1/chat/completions", { POST: (exchange) => serveCompletion(readChat, exchange, now) }],
    ["/v1/completions", { POST: (exchange) => serveCompletion(readText, exchange, now) }],
    ["/v1/messages", { POST: (exchange) => serveCompletion(readMessages, exchange, now) }],
    ["/v1/responses", { POST: (exchange) => serveCompletion(readResponses, exchange, now) }],
    ["/v1/models", { GET: models }],
  ];
};

const observedRoutes = ({ options, modes, life }: RouteContext): Routes => {
  let scrapes = 0;
  return [
    ...flavourRoutes(options.flavour, { options, modes, life }),
    [
      "/metrics",
      {
        GET: ({ response }) => {
          scrapes += 1;
          const isOther = modes.multi_replica && scrapes % 2 === 0;
          sendMetrics(response, { options, life: life(), modes, isOther });
        },
      },
    ],
    [
      "/dcgm/metrics",
      {
        GET: ({ response }) => {
          const isBusy = life()
            .engines()
            .map(({ state }) => state.running > 0);
          const { region, gpuMemoryBytes: memoryBytes } = options;
          const page = dcgmPage({ region, memoryBytes, isBusy, isAsleep: modes.sleep });
          response.writeHead(200, { "content-type": CONTENT_TYPE }).end(page);
        },
      },
    ],
  ];
};

const simRoutes = ({ options, modes, life, restart }: RouteContext): Routes => [
  [
    "/sim/state",
    { GET: ({ response }) => sendJson(response, 200, { region: options.region, ...stateOf(life(), modes) }) },
  ],
  ["/sim/hold", { POST: async ({ request, response }) => hold(response, await readJson(request), life()) }],
  [
    "/sim/mode",
    {
      POST: async ({ request, response }) => {
        const forgetContexts = () => life().room.region.replicas.forEach((replica) => void replica.forgetContexts());
        changeModes(response, await readJson(request), { modes, forgetContexts, restart });
      },
    },
  ],
];
