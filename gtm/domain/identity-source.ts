/** Where a request may say which conversation it belongs to. */

/** In the order of trust; configuration may choose another, and leave some out. */
export const IDENTITY_SOURCES = [
  /** `X-GTM-Pin`. */
  "pin-token",
  /** `<label>.c.<zone>`. */
  "host-label",
  /** A stored response or conversation that the turn continues. */
  "state",
  "header",
  /** What known clients and routers send unasked. */
  "client-header",
  "query",
  "prompt-cache-key",
  "session",
  "metadata-user",
  /** What the system and the first user say. */
  "fingerprint",
  "user",
] as const;
export type IdentitySource = (typeof IDENTITY_SOURCES)[number];
