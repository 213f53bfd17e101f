/** `dns.rate_limit` and `dns.tcp` of the configuration: how much strangers get of the DNS server. */
import { z } from "zod";
import { duration } from "#shared/units.ts";
import { cidr } from "./network.ts";

export const RateLimitSettings = z.strictObject({
  /** Answers over UDP a second for each /24 or /56 that shows no valid cookie; null: no limit. */
  per_prefix_qps: z.int().min(1).max(1_000_000).nullable().default(200),
  /** Of the queries beyond, one in so many gets TC, so that nobody is met with silence alone. */
  slip: z.int().min(1).max(10).default(2),
  /** Networks that are never limited. */
  exempt: z.array(cidr).max(256).default([]),
});

export const TcpSettings = z.strictObject({
  /** All together; one more closes the one that has been idle longest. */
  connections: z.int().min(1).max(65_536).default(256),
  /** Of one IPv4 address or one IPv6 /48, the same way. */
  per_peer: z.int().min(1).max(65_536).default(64),
  /** Since the last whole query; then the connection is destroyed. */
  idle: duration.pipe(z.number().min(100).max(3_600_000)).default(10_000),
});

/** RFC 5001: told to whoever asks; printable, and short enough to fit beside everything else. */
export const Nsid = z
  .string()
  .regex(/^[\x20-\x7e]{1,64}$/, "must be 1 to 64 printable characters")
  .nullable()
  .default(null);

export const rateLimitOf = ({ per_prefix_qps, slip, exempt }: z.output<typeof RateLimitSettings>) => ({
  perPrefixQps: per_prefix_qps,
  slip,
  exempt,
});

export const tcpLimitsOf = ({ connections, per_peer, idle }: z.output<typeof TcpSettings>) => ({
  tcpConnections: connections,
  tcpConnectionsPerPeer: per_peer,
  tcpIdleMs: idle,
});
