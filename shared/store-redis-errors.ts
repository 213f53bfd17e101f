/** What Redis and the way to it answer instead of a value, in our codes. */
import { OperationalError } from "./errors.ts";

/** Replies of a server that will serve again, or of one that another serves for: waiting helps. */
const PASSING = /^(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|BUSY|MOVED|ASK)\b/;

/** @returns GTM_STORE_REFUSED: the server answered and will not do it; GTM_STORE_UNREACHABLE: it did not answer, or cannot now */
export const storeErrorOf = (cause: unknown): OperationalError => {
  if (cause instanceof OperationalError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  return isReplyError(cause) && !PASSING.test(message)
    ? new OperationalError("GTM_STORE_REFUSED", `the store refused: ${message}`, { cause })
    : new OperationalError("GTM_STORE_UNREACHABLE", `the store did not do it: ${message}`, { cause });
};

/** The server answered, and what it said is an error. */
export const isReplyError = (cause: unknown): cause is Error => cause instanceof Error && cause.name === "ReplyError";

/** A server that was the primary and is none any more: what it does not take, the new one does. */
export const isDemoted = (cause: Error): boolean => cause.message.startsWith("READONLY");
