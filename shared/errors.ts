/** A fault of the surroundings (configuration, network, peer), told so that an operator can act on it; and the table of its codes. */

/** Every code that a program of this repository can report, with what to do about it. */
export const ERROR_TABLE = {
  GTM_CONFIG_INVALID: "The configuration has faults; each is listed with its line. Mend them and start again.",
  GTM_CONFIG_UNREADABLE: "A configuration or secret file cannot be read. Check its path and permissions.",
  GTM_LISTEN_FAILED: "A socket cannot be opened: the port is taken, or binding it needs a privilege.",
  GTM_STORE_UNREACHABLE:
    "The store did not answer within its deadline. The GTM goes on degraded; look after the store.",
  GTM_STORE_REFUSED:
    "The store answered and would not do it: out of memory, or the user lacks a permission. gtm doctor says which.",
  GTM_RECORD_REFUSED: "A record in the store does not match its schema and was left alone.",
  GTM_OIDC_KEYS_UNAVAILABLE:
    "The identity provider's keys cannot be fetched. Those who sign in by it wait; tokens of the GTM's own go on.",
  GTM_GEO_UNAVAILABLE: "The geography data could not be loaded; clients have no location until it is.",
  GTM_TRACE_INVALID: "A trace, or a file of recorded decisions, is not what its format says; file and line are named.",
  GTM_SHUTDOWN_TIMEOUT: "A part did not stop within the deadline; the process exits without it.",
  AGENT_CONFIG_INVALID: "The agent's configuration has faults; each is listed with its line.",
  AGENT_SCRAPE_FAILED: "An engine or exporter could not be read; its values are unknown, not zero.",
  AGENT_PAYLOAD_INVALID: "A payload is not what its engine's contract says; its values are unknown.",
  AGENT_PUBLISH_FAILED: "A report could not be written to the store; the next one is tried a second later.",
  DEMO_REDIS_UNUSABLE:
    "The demo takes a Redis to itself: a server of its own, or a database that nobody else uses, such as redis://…/1.",
  DEMO_ENGINE_FAILED: "An engine simulator of the demo did not start; what it said follows. Try --port-offset.",
} as const;
export type ErrorCode = keyof typeof ERROR_TABLE;

export class OperationalError extends Error {
  readonly code: ErrorCode;

  /** @param message what was expected and what was found; the code's entry in the table says what to do */
  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = "OperationalError";
    this.code = code;
  }
}
