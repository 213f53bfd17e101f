/** The DNS server: UDP and TCP sockets around the answer step, on every configured address. */
import { OperationalError } from "#shared/errors.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Metrics } from "#shared/metrics.ts";
import { type AnswererOptions, createAnswerer } from "./answerer.ts";
import type { DnsLimits } from "./limit.ts";
import { createRateLimiter, type RateLimitSettings, TICK_MS } from "./rate-limit.ts";
import { createRateLimitLog } from "./rate-limit-log.ts";
import { createTally } from "./tally.ts";
import { createTcpListener } from "./tcp-listener.ts";
import { createUdpListener, type ListenAddress, type Listener } from "./udp-listener.ts";

export type DnsServerOptions = Omit<AnswererOptions, "tally" | "limiter" | "tcpIdleMs"> & {
  /** Each gets UDP and TCP on one port. */
  readonly listen: readonly ListenAddress[];
  readonly limits: DnsLimits;
  readonly rateLimit: RateLimitSettings;
  readonly metrics: Metrics;
};

export type DnsServer = Part & {
  /** Once started, in the order of `listen`. */
  readonly addresses: () => readonly ListenAddress[];
};

/** How far the counts that Prometheus reads may be behind. */
const FLUSH_MS = 1_000;
/** Where any port will do, one that is free for UDP may be taken for TCP. */
const MOST_TRIES = 16;

/** `start` rejects with an OperationalError GTM_LISTEN_FAILED that names protocol, address and port, and leaves nothing open. */
export const createDnsServer = (options: DnsServerOptions): DnsServer => {
  const { listen, limits, clock, log, metrics } = options;
  const tally = createTally(metrics);
  const limiter = createRateLimiter(options.rateLimit);
  const rateLimitLog = createRateLimitLog({ limiter, log, clock });
  const answer = createAnswerer({ ...options, tally, limiter, tcpIdleMs: limits.tcpIdleMs });
  const udpAnswer = answer("udp");
  const tcpAnswer = answer("tcp");
  const opened: { readonly listeners: readonly Listener[]; readonly at: ListenAddress }[] = [];

  const openBoth = async (at: ListenAddress): Promise<void> => {
    const udp = createUdpListener({ answer: udpAnswer, tally, log, limits });
    const port = await opening("udp", at, udp);
    const tcp = createTcpListener({ answer: tcpAnswer, tally, log, limits, clock });
    try {
      await opening("tcp", { ...at, port }, tcp);
    } catch (fault) {
      await udp.close();
      throw fault;
    }
    opened.push({ listeners: [udp, tcp], at: { address: at.address, port } });
  };
  const open = async (at: ListenAddress): Promise<void> => {
    for (let tries = 1; ; tries++) {
      try {
        return await openBoth(at);
      } catch (fault) {
        if (at.port !== 0 || tries === MOST_TRIES) throw fault;
      }
    }
  };
  const flush = (): void => rateLimitLog.tell(tally.flush());
  let flushing: NodeJS.Timeout | undefined;
  let ticking: NodeJS.Timeout | undefined;
  const closeAll = async (): Promise<void> => {
    await Promise.all(opened.splice(0).flatMap(({ listeners }) => listeners.map((listener) => listener.close())));
    clearInterval(flushing);
    clearInterval(ticking);
    flush();
  };

  return {
    name: "dns",
    start: async () => {
      const tick = (): void => limiter.tick(clock.monotonicMs());
      tick();
      ticking = setInterval(tick, TICK_MS).unref();
      try {
        for (const at of listen) await open(at);
      } catch (fault) {
        await closeAll();
        throw fault;
      }
      flushing = setInterval(flush, FLUSH_MS).unref();
      for (const { at } of opened) log.info("dns.listening", { ...at });
    },
    stop: closeAll,
    addresses: () => opened.map(({ at }) => at),
  };
};

const opening = async (protocol: string, at: ListenAddress, listener: Listener): Promise<number> => {
  try {
    return await listener.open(at);
  } catch (cause) {
    const { address, port } = at;
    const found = cause instanceof Error ? cause.message : String(cause);
    const where = `${address.includes(":") ? `[${address}]` : address}:${port}`;
    throw new OperationalError("GTM_LISTEN_FAILED", `expected to listen on ${protocol} ${where}, found: ${found}`, {
      cause,
    });
  }
};
