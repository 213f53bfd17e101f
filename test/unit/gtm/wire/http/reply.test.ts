import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { HttpAnswer } from "#gtm/wire/http/redirect.ts";
import { problemReply, type Reply, type Steered, steeredReply, unknownModelReply } from "#gtm/wire/http/reply.ts";
import { DecisionId } from "#shared/ids.ts";
import { regionId } from "#test/support/builders.ts";

const redirect: HttpAnswer = {
  status: 307,
  verdict: "pinned",
  region: regionId("frankfurt"),
  origin: "https://frankfurt.r.llm.example.org",
};
const reply = (wish: Partial<Steered> = {}): Reply =>
  steeredReply({
    answer: redirect,
    decisionId: DecisionId.parse("01JDXV3Z000000000000000001"),
    pathAndQuery: "/v1/chat/completions?a=%20b",
    form: "openai",
    tookMs: 0.123_456,
    pin: { token: "p1token", baseUrl: "https://p1token.c.llm.example.org/v1" },
    ...wish,
  });
const json = ({ body }: Reply): unknown => JSON.parse(body ?? "");

describe("a redirect", () => {
  it("repeats path and query, may not be kept, and says what was decided", () => {
    const { status, headers } = reply();
    assert.equal(status, 307);
    assert.deepEqual(headers, {
      Location: "https://frankfurt.r.llm.example.org/v1/chat/completions?a=%20b",
      "Cache-Control": "no-store",
      "Content-Type": "application/json",
      "X-GTM-Region": "frankfurt",
      "X-GTM-Decision": "01JDXV3Z000000000000000001",
      "X-GTM-Verdict": "pinned",
      "Server-Timing": "gtm;dur=0.123",
      "X-GTM-Pin": "p1token",
      "X-GTM-Pinned-Base-URL": "https://p1token.c.llm.example.org/v1",
    });
  });
  it("names no base URL where labels are off, and no pin where there is no conversation", () => {
    const unlabelled = reply({ pin: { token: "p1token", baseUrl: null } }).headers;
    assert.equal(unlabelled["X-GTM-Pin"], "p1token");
    assert.equal("X-GTM-Pinned-Base-URL" in unlabelled, false);
    assert.equal("X-GTM-Pin" in reply({ pin: null }).headers, false);
  });
  it("explains itself in OpenAI's error form to clients that do not follow", () => {
    assert.deepEqual(json(reply()), {
      error: {
        message:
          "Region frankfurt serves this request: send it again to the URL in the Location header, credentials included.",
        type: "redirect",
        param: null,
        code: "temporary_redirect",
      },
    });
  });
  it("explains itself in Anthropic's error form to its clients", () => {
    assert.deepEqual(json(reply({ form: "anthropic" })), {
      type: "error",
      error: {
        type: "redirect",
        message:
          "Region frankfurt serves this request: send it again to the URL in the Location header, credentials included.",
      },
    });
  });
});

describe("a refusal", () => {
  const reasons = [{ region: regionId("frankfurt"), reason: "down", cause: "probe" }] as const;
  it("for now is 503 with Retry-After and each region's reason, as a problem that OpenAI's clients can read, too", () => {
    const refused = reply({ answer: { status: 503, retryAfterSeconds: 5, reasons } });
    assert.equal(refused.status, 503);
    assert.deepEqual(refused.headers, {
      "Content-Type": "application/problem+json",
      "Cache-Control": "no-store",
      "X-GTM-Decision": "01JDXV3Z000000000000000001",
      "X-GTM-Verdict": "unserved",
      "Server-Timing": "gtm;dur=0.123",
      "Retry-After": "5",
    });
    assert.deepEqual(json(refused), {
      type: "urn:problem-type:llm-gtm:unserved",
      title: "Service Unavailable",
      status: 503,
      detail: "No region can serve this request now.",
      code: "unserved",
      decision: "01JDXV3Z000000000000000001",
      regions: reasons,
      error: { message: "No region can serve this request now.", type: "gtm_error", param: null, code: "unserved" },
    });
  });
  it("for good is 451 without Retry-After", () => {
    const refused = reply({ answer: { status: 451, reasons: [] } });
    assert.equal(refused.status, 451);
    assert.equal("Retry-After" in refused.headers, false);
  });
});

describe("an unknown model", () => {
  it("is 404 in OpenAI's form", () => {
    const { status, headers, body } = unknownModelReply("openai", 'gpt"x');
    assert.deepEqual([status, headers["Content-Type"]], [404, "application/json"]);
    assert.deepEqual(JSON.parse(body ?? ""), {
      error: {
        message: 'The model `gpt"x` does not exist, or no pool of this host serves it.',
        type: "invalid_request_error",
        param: "model",
        code: "model_not_found",
      },
    });
  });
  it("is not_found_error to Anthropic's clients", () => {
    assert.match(unknownModelReply("anthropic", "x").body ?? "", /"type":"not_found_error"/);
  });
});

describe("a problem", () => {
  it("carries its status, the status's title, a code and a sentence", () => {
    const { status, headers, body } = problemReply("misdirected", "Not ours.");
    assert.deepEqual([status, headers["Content-Type"]], [421, "application/problem+json"]);
    assert.deepEqual(JSON.parse(body ?? ""), {
      type: "urn:problem-type:llm-gtm:misdirected",
      title: "Misdirected Request",
      status: 421,
      detail: "Not ours.",
      code: "misdirected",
    });
  });
});
