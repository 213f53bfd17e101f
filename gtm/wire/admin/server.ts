/** The admin API's listener: plain HTTP, loopback only unless tokens say who may do what. */
import { randomBytes } from "node:crypto";
import { getRequestListener } from "@hono/node-server";
import type { Clock } from "#shared/clock.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { createApp } from "./app.ts";
import { createConversationTurns } from "./conversation-turns.ts";
import { viewer } from "./decision-clock.ts";
import { createEventHub } from "./event-hub.ts";
import { WRITE_EVERY_MS } from "./event-stream.ts";
import { createEventStreams, type EventStreams } from "./event-streams.ts";
import { type Address, createListener, type Listener, textOf } from "./listener.ts";
import { createOperationWatch } from "./operation-watch.ts";
import type { AdminPorts } from "./ports.ts";
import { createRecent } from "./recent.ts";
import { createRegionHistory } from "./region-history.ts";
import { type AuthOptions, createStandingAuth, type StandingAuth } from "./standing-auth.ts";

export type AdminOptions = {
  /** Port 0: any free one. */
  readonly listen: Address;
  readonly auth: AuthOptions;
  readonly ports: AdminPorts;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
};

export type Admin = Part & {
  readonly address: () => Address;
  /** Others may use it from when the returned function is called. @throws {OperationalError} it cannot be used: nothing has changed */
  readonly prepare: (auth: AuthOptions) => () => void;
};

/** How often regions are compared with what was seen before, and streams written; how often a silent one says that it lives. */
const LOOK_MS = WRITE_EVERY_MS;
const WATCH_MS = 2_000;
const HEARTBEAT_MS = 15_000;

export const createAdmin = (options: AdminOptions): Admin => {
  let running: Running | null = null;
  let wanted = options.auth;
  return {
    name: "admin",
    start: async () => {
      running = await run({ ...options, auth: wanted });
    },
    prepare: (auth) => {
      const turn = running?.standing.prepare(auth);
      return () => {
        wanted = auth;
        turn?.();
      };
    },
    stop: async () => {
      const stopping = running;
      running = null;
      await stopping?.stop();
    },
    address: () => {
      if (running === null) throw new Error("admin: not started");
      return running.listener.address();
    },
  };
};

type Running = {
  readonly listener: Listener;
  readonly standing: StandingAuth;
  readonly stop: () => Promise<void>;
};

const run = async (options: AdminOptions): Promise<Running> => {
  const { ports, clock, log, metrics, listen } = options;
  const standing = createStandingAuth(options.auth, { listen, stored: ports.tokens, clock, log, metrics });
  const { auth, mostTokenMs } = standing;
  const boot = randomBytes(4).toString("hex");
  const hub = createEventHub({ world: ports.steering.world, decisions: ports.decisions, clock, boot });
  const streams = createEventStreams({ hub, viewOf: viewer(ports.policyAt, clock), clock, metrics });
  const recent = createRecent(clock);
  hub.subscribe(recent.happened);
  const history = createRegionHistory(ports, clock);
  const conversationTurns = createConversationTurns(clock);
  const unsubscribe = ports.measuredTurns.subscribe((turns) => {
    recent.measured(turns);
    conversationTurns.measured(turns);
  });
  const forget = (): void => {
    unsubscribe();
    hub.stop();
  };
  const context = {
    ports,
    clock,
    log,
    streams,
    recent,
    history,
    conversationTurns,
    auth,
    mostTokenMs,
    startedAtMs: clock.monotonicMs(),
  };
  const app = createApp(context, metrics);
  const handle = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const listener = createListener({
    name: "admin",
    listen,
    onRequest: (request, response) => {
      handle(request, response).catch((error: unknown) => log.error("admin.bug", { stack: String(error) }));
    },
  });
  try {
    await listener.open();
  } catch (error) {
    forget();
    throw error;
  }
  const look = (): void => {
    hub.look();
    history.look();
    streams.review();
    streams.flush();
  };
  const operations = createOperationWatch({ ports, clock, log, tell: hub.tell });
  const timers = [
    setInterval(look, LOOK_MS),
    setInterval(() => void operations.look(), WATCH_MS),
    setInterval(streams.heartbeat, HEARTBEAT_MS),
  ];
  for (const timer of timers) timer.unref();
  log.info("admin.listening", { address: textOf(listener.address()), hasTokens: auth.asksForTokens });
  return { listener, standing, stop: () => stopAll(listener, timers, forget, streams) };
};

const stopAll = async (
  listener: Listener,
  timers: readonly NodeJS.Timeout[],
  forget: () => void,
  streams: EventStreams,
): Promise<void> => {
  for (const timer of timers) clearInterval(timer);
  forget();
  const closed = listener.close();
  streams.closeAll();
  await closed;
};
