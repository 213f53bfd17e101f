/** The answer to who asks where its next turn goes. */
import type { Decision } from "#gtm/domain/decision.ts";
import type { HttpAnswer } from "./redirect.ts";
import { type Pin, type Reply, timing } from "./reply.ts";

export type SteerBody = {
  /** For the client's SDK: the region's own. */
  readonly base_url: string;
  /** The same by the conversation's name, which follows it when it moves; null: labels are off, or no conversation is named. */
  readonly pinned_base_url: string | null;
  /** To be sent as `X-GTM-Pin`; null: no conversation is named. */
  readonly label: string | null;
  readonly region: string;
  /** Seconds after which it is worth asking again. */
  readonly expires_in_s: number;
  /** Its id. */
  readonly decision: string;
};

/** What two askers may differ in that a cache between them must not mix up. */
const VARY = "Authorization, X-Api-Key, X-GTM-Pin, X-Conversation-Id, X-Session-Id, Origin";

export const steerReply = (steered: {
  readonly answer: HttpAnswer & { readonly status: 307 };
  readonly decision: Decision;
  /** The pool's path, such as "/v1". */
  readonly prefix: string;
  readonly pin: Pin | null;
  readonly tookMs: number;
}): Reply => {
  const { answer, decision, pin } = steered;
  const body: SteerBody = {
    base_url: `${answer.origin}${steered.prefix === "/" ? "" : steered.prefix}`,
    pinned_base_url: pin?.baseUrl ?? null,
    label: pin?.token ?? null,
    region: answer.region,
    expires_in_s: decision.ttlSeconds,
    decision: decision.id,
  };
  return {
    status: 200,
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": `private, max-age=${decision.ttlSeconds}`,
      Vary: VARY,
      // Also where no page asked: what a cache keeps may be for a page.
      "Access-Control-Allow-Origin": "*",
      "X-GTM-Region": answer.region,
      "X-GTM-Decision": decision.id,
      "X-GTM-Verdict": answer.verdict,
      "Server-Timing": timing(steered.tookMs),
    },
    body: JSON.stringify(body),
  };
};
