/** The gateway's own errors: RFC 9457 with the `error` member that the APIs' clients read. Says nothing of what was sent. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Refusal } from "./ports.ts";
import type { BodyFault } from "./request-body.ts";

/** Every code and its status; the title is the status's own. */
export const PROBLEMS = {
  "malformed-request": 400,
  "ticket-malformed": 400,
  "ticket-unknown-key": 401,
  "ticket-expired": 401,
  "ticket-not-yet": 401,
  "ticket-other-target": 401,
  "ticket-replayed": 401,
  "no-ticket-keys": 401,
  "not-a-served-path": 404,
  "body-too-slow": 408,
  "body-too-large": 413,
  misdirected: 421,
  "engine-failed": 502,
  "model-gone": 503,
  queue: 503,
  draining: 503,
  "engine-silent": 504,
} as const satisfies Record<string, number>;
export type ProblemCode = keyof typeof PROBLEMS;

export type Problem = {
  readonly code: ProblemCode;
  /** For people. */
  readonly detail: string;
  /** Whether the same request, sent to where the client sent it first, may go well. Clients of OpenAI and Anthropic obey. */
  readonly shouldRetry: boolean;
  /** null: no word on when. More than 0. */
  readonly retryAfterMs: number | null;
};

/** How long what is left of a refused body is thrown away: closing at once would reset the connection under the answer. */
const LINGER_MS = 2_000;

/**
 * @param further headers, names and values in turn. Nothing is done where an answer has begun. A HEAD gets no body by Node's
 * doing. What is left of the body is read and thrown away: `Connection: close` is then the caller's to add.
 */
export const answerProblem = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { problem, further }: { readonly problem: Problem; readonly further: readonly string[] },
): void => {
  if (outgoing.headersSent) return;
  const status = PROBLEMS[problem.code];
  const body = bodyText(problem, status);
  outgoing.writeHead(status, [...headersOf(problem, status, body), ...further]);
  if (incoming.complete) outgoing.end(body);
  else endOnceRead(incoming, outgoing, body);
};

const bodyText = ({ code, detail }: Problem, status: number): string => {
  const title = STATUS_CODES[status] ?? code;
  const error = { message: detail, type: status < 500 ? "invalid_request_error" : "server_error", param: null, code };
  return JSON.stringify({ type: `urn:problem-type:llm-gtm:${code}`, title, status, detail, code, error });
};

const headersOf = ({ shouldRetry, retryAfterMs }: Problem, status: number, body: string): readonly string[] => [
  ...["Content-Type", "application/problem+json", "Content-Length", `${Buffer.byteLength(body)}`],
  ...["Cache-Control", "no-store", "X-Should-Retry", `${shouldRetry}`],
  // RFC 9110 §15.5.2 asks for a challenge.
  ...(status === 401 ? ["WWW-Authenticate", "Bearer"] : []),
  ...(retryAfterMs === null ? [] : ["Retry-After", `${Math.max(1, Math.ceil(retryAfterMs / 1_000))}`]),
];

const endOnceRead = (incoming: IncomingMessage, outgoing: ServerResponse, body: string): void => {
  outgoing.write(body);
  const end = (): void => {
    clearTimeout(timer);
    outgoing.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  incoming.once("end", end).once("close", end).resume();
};

export type Refused = { readonly kind: "problem"; readonly problem: Problem };

/** About as long as it takes to connect to another engine. */
const RETRY_MS = 1_000;

export const UNANSWERED: Readonly<Record<"failure" | "silence", Problem>> = {
  failure: {
    code: "engine-failed",
    detail: "The engine ended before it answered, and no other could be asked. Send the request again.",
    shouldRetry: true,
    retryAfterMs: RETRY_MS,
  },
  silence: {
    code: "engine-silent",
    detail: "The engine took the request and said nothing for longer than limits.engine_idle.",
    shouldRetry: true,
    retryAfterMs: RETRY_MS,
  },
};

const REFUSED: Readonly<Record<Refusal["reason"], string>> = {
  "model-gone": "No engine of this region serves the model now. Send the request to the front door again.",
  queue: "This region's queue is far longer than expected. Send the request to the front door again.",
  draining: "This region is being drained. Send the request to the front door again.",
};

export const refusalProblem = ({ reason, retryAfterMs }: Refusal): Problem => ({
  ...{ code: reason, detail: REFUSED[reason], shouldRetry: true, retryAfterMs },
});

export const bodyProblem = (kind: BodyFault["kind"]): Refused => ({
  kind: "problem",
  problem:
    kind === "too-large"
      ? {
          code: "body-too-large",
          detail: "The body is larger than limits.body.",
          shouldRetry: false,
          retryAfterMs: null,
        }
      : { code: "body-too-slow", detail: "The body stopped coming.", shouldRetry: true, retryAfterMs: null },
});
