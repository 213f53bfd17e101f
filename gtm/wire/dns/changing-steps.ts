/** The answer steps of now: another configuration makes new ones, and sockets, counts and limited networks stay. */
import type { AnswerStep } from "./answer.ts";
import { type AnswererOptions, createAnswerer } from "./answerer.ts";
import type { DnsLimits } from "./limit.ts";
import { createRateLimiter, RATE_TABLE_OCTETS, type RateLimiter, type RateLimitSettings } from "./rate-limit.ts";
import type { Tally, Transport } from "./tally.ts";

/** What a configuration says of DNS that may change while it is answered; `ports` and what decides by them go with it. */
export type ChangingOptions = Pick<
  AnswererOptions,
  | "zone"
  | "ports"
  | "steer"
  | "decideCell"
  | "findLabel"
  | "regions"
  | "pools"
  | "models"
  | "defaultPool"
  | "frontAddresses"
  | "whyAllow"
  | "ownSubnets"
  | "nsid"
> & { readonly limits: DnsLimits; readonly rateLimit: RateLimitSettings };

export type StepsOptions = Omit<AnswererOptions, "limiter" | "tcpIdleMs" | "tally"> &
  ChangingOptions & {
    readonly tally: Tally;
    /** null: this server is alone. */
    readonly rateTable: SharedArrayBuffer | null;
  };

export type ChangingSteps = {
  /** One for as long as the server lives; each query is answered whole by the steps that stand when it comes. */
  readonly step: (transport: Transport) => AnswerStep;
  readonly limiter: Pick<RateLimiter, "lastLimited" | "tick">;
  /** Those of now, whenever they are read. */
  readonly limits: DnsLimits;
  /** Makes everything that may fail. @returns puts it in place; what waits for a label is still answered by what was there before */
  readonly prepare: (changed: ChangingOptions) => () => void;
};

export const createChangingSteps = (options: StepsOptions): ChangingSteps => {
  const memory = options.rateTable ?? new ArrayBuffer(RATE_TABLE_OCTETS);
  let tickedAtMs = 0;
  const made = (changed: ChangingOptions) => {
    const { limits, rateLimit } = changed;
    const limiter = createRateLimiter(rateLimit, memory);
    limiter.tick(tickedAtMs);
    const answerer = createAnswerer({ ...options, ...changed, limiter, tcpIdleMs: limits.tcpIdleMs });
    return { limits, limiter, udp: answerer("udp"), tcp: answerer("tcp") };
  };
  let now = made(options);
  return {
    step: (transport) =>
      transport === "udp"
        ? (octets, peer, out) => now.udp(octets, peer, out)
        : (octets, peer, out) => now.tcp(octets, peer, out),
    limiter: {
      lastLimited: () => now.limiter.lastLimited(),
      tick: (nowMs) => {
        tickedAtMs = nowMs;
        now.limiter.tick(nowMs);
      },
    },
    limits: {
      ...options.limits,
      get tcpConnections() {
        return now.limits.tcpConnections;
      },
      get tcpConnectionsPerPeer() {
        return now.limits.tcpConnectionsPerPeer;
      },
      get tcpIdleMs() {
        return now.limits.tcpIdleMs;
      },
    },
    prepare: (changed) => {
      const next = made(changed);
      return () => {
        next.limiter.tick(tickedAtMs);
        now = next;
      };
    },
  };
};
