/** Sends a turn to the replica that was chosen for it; to another one while nothing of an answer has been seen. */
import type { Agent, Dispatcher } from "undici";
import { forwardedHeaders, type RawHeaders } from "#shared/hop-headers.ts";
import type { ReplicaId } from "#shared/ids.ts";
import { failureEvent } from "#shared/sse-failure.ts";
import { type Pumped, pump } from "#shared/stream-pump.ts";
import { ENGINE_CORS } from "./cors.ts";
import { bodyOf, canSend, type Exchange } from "./exchange.ts";
import type { Choice, Refusal, Replicas, TurnOutcome } from "./ports.ts";
import { BodyFault } from "./request-body.ts";

export type ToEngineRules = {
  readonly replicas: Pick<Replicas, "choose">;
  readonly agent: Agent;
  readonly engineIdleMs: number;
  readonly readerIdleMs: number;
  /** An attempt ended without an answer; why: an error's code, or a status. */
  readonly onAttemptFailed: (reason: string) => void;
};

export type EngineEnd =
  | { readonly kind: "served" | "aborted" | "failed" }
  /** Nothing was written to the client. */
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** Nothing was written to the client, and the body cannot be sent again or there is no other replica. */
  | { readonly kind: "unanswered"; readonly isSilence: boolean }
  /** The client's own body was at fault. */
  | { readonly kind: "body"; readonly fault: BodyFault };

/** One for the choice, one for a connection that ended while it was idle, one for another replica: a prompt that kills engines kills two. */
const MOST_ATTEMPTS = 3;
/** The engine, or a proxy before it, cannot serve now; anything else is an answer to the client. */
const DECLINED: ReadonlySet<number> = new Set([502, 503, 504]);
const SILENCE_FACTOR = 4;

/** Never rejects. */
export const toEngine = async (exchange: Exchange, rules: ToEngineRules): Promise<EngineEnd> => {
  const not = new Set<ReplicaId>();
  const reconnected = new Set<ReplicaId>();
  let isSilence = false;

  /** What the next choice must know. */
  const learn = ({ replica }: Choice, pumped: Unanswered): void => {
    const fault = pumped.kind === "unanswered" ? pumped.error : null;
    // Whoever waited ten minutes in vain is not made to wait again.
    isSilence = codeOf(fault) === "UND_ERR_HEADERS_TIMEOUT";
    rules.onAttemptFailed(pumped.kind === "declined" ? `${pumped.status}` : codeOf(fault));
    if (endedWhileIdle(fault) && !reconnected.has(replica)) reconnected.add(replica);
    else not.add(replica);
  };

  for (let attempt = 0; attempt < MOST_ATTEMPTS && canSend(exchange) && !isSilence; attempt++) {
    const choice = rules.replicas.choose(exchange.turn, not);
    if (choice.kind === "refused") {
      if (attempt === 0) return { kind: "refused", refusal: choice };
      break;
    }
    const pumped = await attemptAt(choice, exchange, rules);
    choice.follow.end(OUTCOMES[pumped.kind]);
    if (pumped.kind !== "unanswered" && pumped.kind !== "declined") return pumped;
    if (pumped.kind === "unanswered" && pumped.error instanceof BodyFault) return { kind: "body", fault: pumped.error };
    learn(choice, pumped);
  }
  return { kind: "unanswered", isSilence };
};

type Unanswered = Extract<Pumped, { kind: "unanswered" | "declined" }>;

const OUTCOMES: Readonly<Record<Pumped["kind"], TurnOutcome>> = {
  served: "served",
  aborted: "aborted",
  failed: "failed",
  unanswered: "failed",
  declined: "refused",
};

const attemptAt = (choice: Choice, exchange: Exchange, rules: ToEngineRules): Promise<Pumped> => {
  const { turn, outgoing, method, pathAndQuery } = exchange;
  const idleMs = Math.max(rules.engineIdleMs, SILENCE_FACTOR * (turn.predictedTtftMs ?? 0));
  const options: Dispatcher.DispatchOptions = {
    origin: choice.origin,
    path: pathAndQuery,
    method,
    headers: [...exchange.headers, ...FOR_ENGINES, ...choice.headers.flat()],
    body: bodyOf(exchange),
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
  };
  return pump(rules.agent, options, {
    outgoing,
    declines: (status) => DECLINED.has(status),
    headersFor: (_, raw) => [...answerHeaders(raw), "X-GTM-Replica", choice.replica, ...exchange.ownHeaders()],
    head: choice.follow.head,
    chunk: choice.follow.chunk,
    before: choice.follow.before,
    failureEvent: () =>
      failureEvent(turn.path, "The engine ended in the middle of its answer. Send the request again."),
    readerStallMs: rules.readerIdleMs,
  });
};

/** Compressed, an answer's usage could not be read, nor an error be added to it. */
const FOR_ENGINES: readonly string[] = ["accept-encoding", "identity"];

const OURS: ReadonlySet<string> = new Set([...ENGINE_CORS, "x-accel-buffering", "x-gtm-region", "x-gtm-replica"]);
const answerHeaders = (raw: RawHeaders): string[] => forwardedHeaders(raw, OURS);

const codeOf = (error: Error | null): string =>
  error !== null && "code" in error && typeof error.code === "string" ? error.code : (error?.name ?? "unknown");

/** The other side closed a kept connection just when it was used again: it had been used before, so its process need not be dead. */
const endedWhileIdle = (error: Error | null): boolean => {
  if (error === null || !["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"].includes(codeOf(error))) return false;
  const socket: unknown = "socket" in error ? error.socket : null;
  const bytesRead = typeof socket === "object" && socket !== null && "bytesRead" in socket ? socket.bytesRead : 0;
  return typeof bytesRead === "number" && bytesRead > 0;
};
