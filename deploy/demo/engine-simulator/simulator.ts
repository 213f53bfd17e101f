/** A region's engines as one HTTP server that speaks like vLLM. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { OperationalError } from "#shared/errors.ts";
import type { Part } from "#shared/lifecycle.ts";
import { beginLife, type EngineLife } from "./engine-life.ts";
import { normalModes } from "./modes.ts";
import { apiError } from "./openai-error.ts";
import type { EngineSimulatorOptions } from "./options.ts";
import { createRoutes } from "./routes.ts";
import { sendJson } from "./send-json.ts";

export type EngineSimulator = Part & {
  /** Where it listens. @throws when it does not */
  readonly address: () => { readonly address: string; readonly port: number };
};

export const createEngineSimulator = (options: EngineSimulatorOptions): EngineSimulator => {
  const { log } = options;
  const modes = normalModes();
  let life: EngineLife | null = null;
  let bound: { readonly address: string; readonly port: number } | null = null;
  let isStopping = false;
  let coldStart = Promise.withResolvers<void>();

  const alive = (): EngineLife => {
    if (life === null) throw new Error("a request came before the engine simulator listened");
    return life;
  };
  const routes = createRoutes({ options, modes, life: alive, restart: () => void restart() });
  const server = createServer((request, response) => {
    response.setHeader("x-sim-region", options.region);
    response.setHeader("x-request-id", request.headers["x-request-id"] ?? randomUUID());
    // Node keeps a connection open after its answer, also when the server is closing.
    response.on("finish", () => setImmediate(() => isStopping && server.closeIdleConnections()));
    routes(request, response).catch((fault: unknown) => answerFault(request, response, fault));
  });
  const answerFault = (request: IncomingMessage, response: ServerResponse, fault: unknown): void => {
    // A client that went away in the middle of its body: nobody is left to be answered.
    if (request.errored !== null || response.destroyed) return;
    log.error("engine-simulator.bug", {
      region: options.region,
      stack: String(fault instanceof Error ? fault.stack : fault),
    });
    const refusal = apiError(500, "the simulator has a bug; its log says where");
    sendJson(response, refusal.status, refusal.body);
  };

  /** Engines listen once their weights are loaded. */
  const loadAndListen = async (): Promise<void> => {
    coldStart = Promise.withResolvers();
    const timer = setTimeout(coldStart.resolve, options.engine.coldStartMs);
    await coldStart.promise;
    clearTimeout(timer);
    if (isStopping) return;
    life = beginLife(options);
    bound = await listen(server, bound ?? options.listen);
    log.info("engine-simulator.listening", { region: options.region, ...bound });
  };
  const restart = async (): Promise<void> => {
    if (isStopping) return;
    log.info("engine-simulator.restarting", { region: options.region });
    life?.room.close();
    await close(server, 0);
    modes.sleep = false;
    try {
      await loadAndListen();
    } catch (fault) {
      log.error("engine-simulator.restart-failed", { region: options.region, message: String(fault) });
    }
  };

  return {
    name: `engine-simulator ${options.region}`,
    start: loadAndListen,
    stop: async () => {
      isStopping = true;
      coldStart.resolve();
      life?.fillers.hold(0, null);
      await close(server, options.drainMs);
      life?.room.close();
    },
    address: () => {
      if (bound === null) throw new Error("the engine simulator does not listen yet");
      return bound;
    },
  };
};

const listen = async (server: Server, at: { readonly address: string; readonly port: number }) => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(at.port, at.address, resolve);
  try {
    await promise;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new OperationalError("GTM_LISTEN_FAILED", `engine simulator on ${at.address}:${at.port}: ${reason}`, {
      cause,
    });
  } finally {
    server.off("error", reject);
  }
  const { address, port } = server.address() as AddressInfo;
  return { address, port };
};

/** Takes no more connections, lets answers end, and cuts off what has not ended in time. */
const close = async (server: Server, drainMs: number): Promise<void> => {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const timer = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearTimeout(timer);
};
