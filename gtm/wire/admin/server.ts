/** The admin API's listener: plain HTTP, loopback only unless tokens say who may do what. */
import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { createApp } from "./app.ts";
import { createAuthenticator } from "./authenticator.ts";
import { createConversationTurns } from "./conversation-turns.ts";
import { viewer } from "./decision-clock.ts";
import { createEventHub } from "./event-hub.ts";
import { createEventStreams, type EventStreams } from "./event-streams.ts";
import { type Address, createListener, type Listener, textOf } from "./listener.ts";
import { createOidc, type OidcSettings } from "./oidc.ts";
import { createOperationWatch } from "./operation-watch.ts";
import type { AdminPorts } from "./ports.ts";
import { createRecent } from "./recent.ts";
import { createRegionHistory } from "./region-history.ts";
import { openTokensFile } from "./tokens-file.ts";

/** With neither a file nor an identity provider only loopback will do, and everybody on this host is an admin. */
export type AuthOptions = {
  readonly tokensFile: string | null;
  readonly oidc: OidcSettings | null;
  /** The longest that a token may stand which is made by the API. */
  readonly mostTokenMs: number;
  /** How long such tokens are believed while the store cannot be read. */
  readonly withoutStoreMs: number;
};

export type AdminOptions = {
  /** Port 0: any free one. */
  readonly listen: Address;
  readonly auth: AuthOptions;
  readonly ports: AdminPorts;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
};

export type Admin = Part & { readonly address: () => Address };

/** How often regions are compared with what was seen before, and how often a silent stream says that it lives. */
const LOOK_MS = 250;
const WATCH_MS = 2_000;
const HEARTBEAT_MS = 15_000;

export const createAdmin = (options: AdminOptions): Admin => {
  let running: Running | null = null;
  return {
    name: "admin",
    start: async () => {
      running = await run(options);
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

type Running = { readonly listener: Listener; readonly stop: () => Promise<void> };

const run = async (options: AdminOptions): Promise<Running> => {
  const { ports, clock, log, metrics, listen } = options;
  const { tokensFile, oidc, mostTokenMs, withoutStoreMs } = options.auth;
  checkExposure(options);
  const auth = createAuthenticator({
    file: tokensFile === null ? null : openTokensFile(tokensFile, { log, metrics }),
    oidc: oidc === null ? null : createOidc(oidc, { clock, log, metrics }),
    ...{ stored: ports.tokens, withoutStoreMs, clock },
  });
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
  };
  const operations = createOperationWatch({ ports, clock, log, tell: hub.tell });
  const timers = [
    setInterval(look, LOOK_MS),
    setInterval(() => void operations.look(), WATCH_MS),
    setInterval(streams.heartbeat, HEARTBEAT_MS),
  ];
  for (const timer of timers) timer.unref();
  log.info("admin.listening", { address: textOf(listener.address()), hasTokens: auth.asksForTokens });
  return { listener, stop: () => stopAll(listener, timers, forget, streams) };
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

const checkExposure = ({ listen, auth, log }: AdminOptions): void => {
  if (isLoopback(listen.address)) return;
  if (auth.tokensFile === null && auth.oidc === null) {
    throw new OperationalError(
      "GTM_CONFIG_INVALID",
      `admin.listen: ${textOf(listen)} can be reached from other hosts, which needs admin.auth.tokens_file or admin.auth.oidc; without them listen on 127.0.0.1 or ::1`,
    );
  }
  log.warn("admin.plaintext", { address: textOf(listen) });
};

const isLoopback = (address: string): boolean =>
  address === "localhost" || address === "::1" || (isIP(address) === 4 && address.startsWith("127."));
