/** Why a server cannot be asked: the cause by name, from what the system, TLS or the server said. Pure. */

export type AwayCause =
  /** Nobody listens there. */
  | "refused"
  /** No answer within the deadline. */
  | "timeout"
  /** Its name leads nowhere. */
  | "unresolved"
  /** There is no way to it. */
  | "no-route"
  /** The connection ended before anything was said. */
  | "closed"
  /** It does not speak TLS. */
  | "no-tls"
  | "certificate-untrusted"
  | "certificate-expired"
  /** The certificate is of another name. */
  | "certificate-name"
  /** It wants a certificate of ours, or refuses the one it got. */
  | "certificate-wanted"
  | "tls"
  | "wrong-password"
  | "no-credentials"
  /** The user is there and may not even connect. */
  | "not-permitted"
  /** It reads its data from disk. */
  | "loading"
  /** It takes no more clients. */
  | "full"
  /** In protected mode it speaks with its own host alone. */
  | "protected"
  | "not-a-cluster"
  | "no-primary"
  /** A file with a secret or a certificate, on our side. */
  | "secret-unreadable"
  | "other";

export type Away = { readonly cause: AwayCause /** What was said, for people. */; readonly detail: string };

const BY_CODE: Readonly<Record<string, AwayCause>> = {
  ECONNREFUSED: "refused",
  ETIMEDOUT: "timeout",
  ENOTFOUND: "unresolved",
  EAI_AGAIN: "unresolved",
  EHOSTUNREACH: "no-route",
  ENETUNREACH: "no-route",
  ECONNRESET: "closed",
  EPIPE: "closed",
  CERT_HAS_EXPIRED: "certificate-expired",
  CERT_NOT_YET_VALID: "certificate-expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificate-name",
  SELF_SIGNED_CERT_IN_CHAIN: "certificate-untrusted",
  DEPTH_ZERO_SELF_SIGNED_CERT: "certificate-untrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "certificate-untrusted",
  UNABLE_TO_GET_ISSUER_CERT: "certificate-untrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "certificate-untrusted",
  CERT_SIGNATURE_FAILURE: "certificate-untrusted",
  ERR_SSL_WRONG_VERSION_NUMBER: "no-tls",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "no-tls",
};

const BY_WORDS: readonly (readonly [RegExp, AwayCause])[] = [
  [/^WRONGPASS|invalid (?:username-password|password)/i, "wrong-password"],
  [/^NOAUTH/, "no-credentials"],
  [/^NOPERM/, "not-permitted"],
  [/^LOADING/, "loading"],
  [/max number of clients/i, "full"],
  [/^DENIED/, "protected"],
  [/cluster support disabled/i, "not-a-cluster"],
  [/wrong version number|packet length too long/i, "no-tls"],
  [/alert (?:certificate required|bad certificate|unknown ca|handshake failure)/i, "certificate-wanted"],
  [/connection is closed|socket (?:hang up|disconnected)/i, "closed"],
  [/timed? ?out/i, "timeout"],
];

/** @param fault null: nothing was heard within the deadline */
export const awayOf = (fault: Error | null): Away => {
  if (fault === null) return { cause: "timeout", detail: "no answer within the deadline" };
  const code = "code" in fault && typeof fault.code === "string" ? fault.code : "";
  const cause = BY_CODE[code] ?? BY_WORDS.find(([words]) => words.test(fault.message))?.[1];
  return { cause: cause ?? (/SSL|TLS/.test(`${code} ${fault.message}`) ? "tls" : "other"), detail: fault.message };
};

/** @param message an error reply */
export const awayOfReply = (message: string): Away => awayOf(new Error(message));
