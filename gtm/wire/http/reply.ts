/** From what was decided to what is sent: status, headers and a small body. */
import type { Decision } from "#gtm/domain/decision.ts";
import type { DecisionId, RegionId } from "#shared/ids.ts";
import { type ApiForm, apiErrorText, followRedirect, unknownModel } from "./api-error.ts";
import { PROBLEM_TYPE, type Problem, type ProblemCode, problemOf } from "./problem.ts";
import type { HttpAnswer, RegionReason } from "./redirect.ts";

/** Ready to be written; header names as they are sent. */
export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

const JSON_TYPE = "application/json";
/** Each turn is decided anew; a proxy that kept an answer would pin strangers to it. */
const NO_STORE = "no-store";

export const problemReply = (code: ProblemCode, detail: string): Reply => replyOf(problemOf(code, detail), {});

const replyOf = (problem: Problem & Readonly<Record<string, unknown>>, headers: Reply["headers"]): Reply => ({
  status: problem.status,
  headers: { "Content-Type": PROBLEM_TYPE, "Cache-Control": NO_STORE, ...headers },
  body: JSON.stringify(problem),
});

export const unknownModelReply = (form: ApiForm, model: string): Reply => ({
  status: 404,
  headers: { "Content-Type": JSON_TYPE, "Cache-Control": NO_STORE },
  body: apiErrorText(form, unknownModel(form, model)),
});

export type Steered = {
  readonly answer: HttpAnswer;
  readonly decisionId: DecisionId;
  /** As received; begins with a slash. */
  readonly pathAndQuery: string;
  readonly form: ApiForm;
  /** From the end of the request to its decision. */
  readonly tookMs: number;
  /** null: no conversation to pin. */
  readonly pin: Pin | null;
};

export type Pin = {
  readonly token: string;
  /** null: labels are off. */
  readonly baseUrl: string | null;
};

export const steeredReply = (steered: Steered): Reply => {
  const { answer } = steered;
  switch (answer.status) {
    case 307:
      return redirectReply(steered, answer);
    case 451:
      return refusalReply(
        "residency-forbids",
        "Every region of this pool lies outside of the jurisdictions that its data may enter.",
        answer.reasons,
        steered,
      );
    case 413:
      return refusalReply(
        "context-too-long",
        "The prompt is longer than any region of this pool takes.",
        answer.reasons,
        steered,
      );
    case 503: {
      const reply = refusalReply("unserved", "No region can serve this request now.", answer.reasons, steered);
      return { ...reply, headers: { ...reply.headers, "Retry-After": `${answer.retryAfterSeconds}` } };
    }
  }
};

const redirectReply = (steered: Steered, answer: HttpAnswer & { status: 307 }): Reply => {
  const headers: Record<string, string> = {
    Location: answer.origin + steered.pathAndQuery,
    "Cache-Control": NO_STORE,
    "Content-Type": JSON_TYPE,
    "X-GTM-Region": answer.region,
    "X-GTM-Decision": steered.decisionId,
    "X-GTM-Verdict": answer.verdict,
    "Server-Timing": timing(steered.tookMs),
  };
  if (steered.pin !== null) {
    headers["X-GTM-Pin"] = steered.pin.token;
    if (steered.pin.baseUrl !== null) headers["X-GTM-Pinned-Base-URL"] = steered.pin.baseUrl;
  }
  return { status: 307, headers, body: redirectText(steered.form, answer.region) };
};

const refusalReply = (
  code: "residency-forbids" | "context-too-long" | "unserved",
  detail: string,
  regions: readonly RegionReason[],
  { decisionId, tookMs }: Steered,
): Reply =>
  replyOf(
    {
      ...problemOf(code, detail),
      decision: decisionId,
      regions,
      error: { message: detail, type: "gtm_error", param: null, code },
    },
    {
      "X-GTM-Decision": decisionId,
      "X-GTM-Verdict": "unserved" satisfies Decision["verdict"]["kind"],
      "Server-Timing": timing(tookMs),
    },
  );

/** Milliseconds, W3C Server Timing §3. */
export const timing = (tookMs: number): string => `gtm;dur=${Math.round(tookMs * 1_000) / 1_000}`;

/** A region's name is a DNS label: it needs no escape in JSON, so only the text around it is made, once. */
const aroundRegion = (form: ApiForm): readonly [string, string] => {
  const [before = "", after = ""] = apiErrorText(form, followRedirect("\n")).split("\\n");
  return [before, after];
};
const AROUND: Readonly<Record<ApiForm, readonly [string, string]>> = {
  openai: aroundRegion("openai"),
  anthropic: aroundRegion("anthropic"),
};

const redirectText = (form: ApiForm, region: RegionId): string => AROUND[form][0] + region + AROUND[form][1];
