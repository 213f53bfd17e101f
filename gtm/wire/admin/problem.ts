/** Errors as RFC 9457 says: `application/problem+json`, with a code for programs and a sentence for people. */
import { z } from "@hono/zod-openapi";

/** Every code and its title; the title never varies, the detail says what was found. */
export const PROBLEMS = {
  "malformed-request": { status: 400, title: "The request does not match its schema" },
  "malformed-json": { status: 400, title: "The body is not JSON" },
  unauthorized: { status: 401, title: "A valid token is required" },
  forbidden: { status: 403, title: "The role, or what it is limited to, does not allow this" },
  "cross-origin": { status: 403, title: "A page of another origin asks" },
  "not-found": { status: 404, title: "There is no such thing" },
  "method-not-allowed": { status: 405, title: "This address does not have that method" },
  "state-conflict": { status: 409, title: "The region's present state does not allow this" },
  "safety-rule": { status: 409, title: "A safety rule forbids this" },
  "config-refused": { status: 409, title: "The configuration's file cannot be used" },
  "no-config-file": { status: 409, title: "There is no file to read again" },
  "too-many-challenges": { status: 409, title: "There are as many challenge values as there may be" },
  "too-many-tokens": { status: 409, title: "There are as many tokens as there may be" },
  "snapshot-too-large": { status: 409, title: "The snapshot would be too large" },
  "precondition-failed": { status: 412, title: "It changed since it was read" },
  "body-too-large": { status: 413, title: "The body is too large" },
  "unsupported-media-type": { status: 415, title: "The body must be application/json" },
  misdirected: { status: 421, title: "Not this host's name" },
  "too-many-failures": { status: 429, title: "Too many tokens that were none" },
  "internal-error": { status: 500, title: "A fault of the GTM itself" },
  "store-unreachable": { status: 503, title: "The store does not answer" },
  "store-refused": { status: 503, title: "The store does not take this" },
  "too-many-streams": { status: 503, title: "Too many event streams are open" },
} as const satisfies Record<string, { status: number; title: string }>;
export type ProblemCode = keyof typeof PROBLEMS;

export const Problem = z
  .looseObject({
    /** `urn:problem-type:llm-gtm:` and the code. */
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    /** What is wrong with the request, one a fault. */
    faults: z.array(z.looseObject({ at: z.string(), message: z.string() })).optional(),
    /** The first of the safety rules that forbid it. */
    rule: z.string().optional(),
    /** What whoever asks lacks: the role, or where their scope would have to reach. */
    missing: z.looseObject({ what: z.enum(["role", "regions", "pools", "tenants"]), needed: z.string() }).optional(),
    /** What would be, what the limit is, and the parameter that does it all the same. */
    found: z.number().optional(),
    limit: z.number().optional(),
    pass: z.string().optional(),
    /** All rules that forbid it, each with its own. */
    violations: z
      .array(z.looseObject({ rule: z.string(), detail: z.string(), found: z.number(), limit: z.number() }))
      .optional(),
  })
  .openapi("Problem");
export type Problem = z.infer<typeof Problem>;

export const CONTENT_TYPE = "application/problem+json";

/** @param more members beside the standard ones, such as `rule` */
export const problemOf = (
  code: ProblemCode,
  detail: string,
  more: Readonly<Record<string, unknown>> = {},
): Problem => ({
  type: `urn:problem-type:llm-gtm:${code}`,
  title: PROBLEMS[code].title,
  status: PROBLEMS[code].status,
  detail,
  code,
  ...more,
});

/** @param headers beside the content type */
export const problemResponse = (problem: Problem, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(`${JSON.stringify(problem)}\n`, {
    status: problem.status,
    headers: { "content-type": CONTENT_TYPE, ...headers },
  });

/** Thrown by a route; the application answers with it. */
export class ProblemError extends Error {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;

  constructor(problem: Problem, headers: Readonly<Record<string, string>> = {}) {
    super(problem.detail);
    this.name = "ProblemError";
    this.problem = problem;
    this.headers = headers;
  }
}

export const refuse = (code: ProblemCode, detail: string, more: Readonly<Record<string, unknown>> = {}): ProblemError =>
  new ProblemError(problemOf(code, detail, more));
