/** Errors as RFC 9457 says: `application/problem+json`, with a code for programs and a sentence for people. */
import { STATUS_CODES } from "node:http";

/** Every code and its status; the title is the status's own. */
export const PROBLEMS = {
  "malformed-request": 400,
  "not-a-pool-path": 404,
  "no-model": 404,
  "unknown-model": 404,
  "method-not-allowed": 405,
  "body-too-slow": 408,
  "body-too-large": 413,
  "context-too-long": 413,
  misdirected: 421,
  "headers-too-many": 431,
  "residency-forbids": 451,
  "internal-error": 500,
  "region-unreachable": 502,
  unserved: 503,
  "region-silent": 504,
  loop: 508,
} as const satisfies Record<string, number>;
export type ProblemCode = keyof typeof PROBLEMS;

export const PROBLEM_TYPE = "application/problem+json";

export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
};

/** @param detail what was found; nothing of the request that could be a secret */
export const problemOf = (code: ProblemCode, detail: string): Problem => ({
  type: `urn:problem-type:llm-gtm:${code}`,
  title: STATUS_CODES[PROBLEMS[code]] ?? code,
  status: PROBLEMS[code],
  detail,
  code,
});
