/** The DNS server: UDP and TCP sockets around the answer step, wherever it is configured to listen. */
import type { Part } from "#shared/lifecycle.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { AnswererOptions } from "./answerer.ts";
import { type ChangingOptions, createChangingSteps } from "./changing-steps.ts";
import { processSurroundings } from "./inherited.ts";
import { loadLibc } from "./libc.ts";
import type { DnsLimits } from "./limit.ts";
import { type Listen, type ListenAddress, type Opened, openAll } from "./listen.ts";
import { type RateLimitSettings, TICK_MS } from "./rate-limit.ts";
import { createRateLimitLog } from "./rate-limit-log.ts";
import { createTally } from "./tally.ts";
import { createTcpListener } from "./tcp-listener.ts";
import { createUdpListener } from "./udp-listener.ts";

export type DnsServerOptions = Omit<AnswererOptions, "tally" | "limiter" | "tcpIdleMs"> & {
  readonly listen: readonly Listen[];
  /** Other threads listen on the same addresses, and the kernel spreads queries over them (SO_REUSEPORT). */
  readonly isShared: boolean;
  readonly limits: DnsLimits;
  readonly rateLimit: RateLimitSettings;
  /** RATE_TABLE_OCTETS that threads limit networks in together; null: this one is alone. */
  readonly rateTable: SharedArrayBuffer | null;
  readonly metrics: Metrics;
  /** Whether datagrams are received and sent several at a time where the system can. */
  readonly isBatched: boolean;
};

export type DnsServer = Part & {
  /** Once started: those of `listen` in their order, then those of descriptors, each once. */
  readonly addresses: () => readonly ListenAddress[];
  /** Another configuration. @returns puts it in place, in one step for every query @throws {Error} where it cannot be answered by; nothing has changed then */
  readonly prepare: (changed: ChangingOptions) => () => void;
};

/** How far the counts that Prometheus reads may be behind. */
const FLUSH_MS = 1_000;

/** `start` rejects with an OperationalError GTM_LISTEN_FAILED that names protocol, address and port or the descriptor, and leaves nothing open. */
export const createDnsServer = (options: DnsServerOptions): DnsServer => {
  const { listen, clock, log, metrics } = options;
  const tally = createTally(metrics);
  const { step, limiter, limits, prepare } = createChangingSteps({ ...options, tally });
  const rateLimitLog = createRateLimitLog({ limiter, log, clock });
  const udpAnswer = step("udp");
  const tcpAnswer = step("tcp");
  const opened: Opened[] = [];
  const libc = options.isBatched ? loadLibc((why) => log.info("dns.one-at-a-time", { why })) : null;
  const shared = { tally, log, limits, isShared: options.isShared };
  const openers = {
    udp: () => createUdpListener({ ...shared, libc, answer: udpAnswer }),
    tcp: () => createTcpListener({ ...shared, answer: tcpAnswer, clock }),
    surroundings: processSurroundings(),
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
        await openAll(listen, openers, (one) => opened.push(one));
      } catch (fault) {
        await closeAll();
        throw fault;
      }
      flushing = setInterval(flush, FLUSH_MS).unref();
      for (const at of placesOf(opened)) log.info("dns.listening", { ...at });
    },
    stop: closeAll,
    addresses: () => placesOf(opened),
    prepare,
  };
};

/** A descriptor of UDP and one of TCP are one place. */
const placesOf = (opened: readonly Opened[]): readonly ListenAddress[] => [
  ...new Map(opened.map(({ at }) => [`${at.address} ${at.port}`, at])).values(),
];
