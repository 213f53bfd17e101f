/** How much of anything one client may take. */
import { KEYS } from "#shared/keys.ts";

export type Limits = {
  /** Request line and headers together; beyond: 431. */
  readonly headerBytes: number;
  readonly headerCount: number;
  /** Until the headers are there. */
  readonly headersMs: number;
  /** Read and thrown away; beyond: 413. */
  readonly bodyBytes: number;
  /** Until the body's end; beyond: 408. */
  readonly bodyMs: number;
  /** How long a refused body is still thrown away, so that the answer arrives before the connection ends. */
  readonly lingerMs: number;
  /** How long a connection without a request stays open. */
  readonly keepAliveMs: number;
  readonly connections: number;
  /** While stopping: how long a connection without a request may still send one. */
  readonly stopIdleMs: number;
  /** While stopping: until what is left is cut. */
  readonly stopMs: number;
  /** Octets of a body that are held back until model and conversation are known, so that it can be forwarded; then it streams. */
  readonly heldBytes: number;
  /** How long that may take; then what is known decides. */
  readonly heldMs: number;
  /** Until a region takes a connection; then another is asked. */
  readonly connectMs: number;
  /** How long a region that a request was forwarded to may say nothing; longer where the prediction is. No limit in total. */
  readonly forwardIdleMs: number;
  /** How long a client may take nothing of an answer that is forwarded to it. */
  readonly readerStallMs: number;
  /** Age at which a pin token no longer says where a conversation lives; the ledger has forgotten by then, too. */
  readonly pinHintMs: number;
};

export const DEFAULT_LIMITS: Limits = {
  headerBytes: 32_768,
  headerCount: 100,
  headersMs: 10_000,
  bodyBytes: 67_108_864,
  bodyMs: 10_000,
  lingerMs: 2_000,
  // Longer than the 60 s of common load balancers, or they would send into a closing connection.
  keepAliveMs: 65_000,
  connections: 10_000,
  stopIdleMs: 500,
  stopMs: 15_000,
  heldBytes: 1_048_576,
  heldMs: 1_000,
  connectMs: 3_000,
  forwardIdleMs: 300_000,
  readerStallMs: 120_000,
  pinHintMs: KEYS.conversation.ttlMs,
};
