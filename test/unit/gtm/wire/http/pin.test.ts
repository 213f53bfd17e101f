import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPinOf, type PinRules } from "#gtm/wire/http/pin.ts";
import type { HttpAnswer } from "#gtm/wire/http/redirect.ts";
import { createLabels, ephemeralLabelKeys, tagOf } from "#shared/pin-token.ts";
import { aPool, aQuery, CONVERSATION, regionId } from "#test/support/builders.ts";

const labels = createLabels(ephemeralLabelKeys());
const NOW = Date.UTC(2026, 10, 30);
const query = aQuery(aPool([]), { conversationId: CONVERSATION });
const to = (origin: string): HttpAnswer => ({ status: 307, verdict: "placed", region: regionId("frankfurt"), origin });
const pinOf = (wish: Partial<PinRules> = {}) =>
  createPinOf({ labels, offersLabels: true, zoneName: "llm.example.org", ...wish });

describe("the pin of a redirect", () => {
  const pin = pinOf()(query, to("https://frankfurt.r.llm.example.org"), "/v1", NOW);
  it("names pool, region, conversation and time", () => {
    assert.deepEqual(labels.read(pin?.token ?? ""), {
      kind: "ours",
      poolTag: tagOf("chat"),
      regionTag: tagOf("frankfurt"),
      conversation: CONVERSATION,
      issuedAtMs: NOW,
    });
  });
  it("makes a base URL of the pool's path", () => {
    assert.equal(pin?.baseUrl, `https://${pin?.token}.c.llm.example.org/v1`);
  });
  it("makes a base URL with the scheme and the port by which the region is reached", () => {
    const local = pinOf()(query, to("http://127.0.1.1:8000"), "/", NOW);
    assert.equal(local?.baseUrl, `http://${local?.token}.c.llm.example.org:8000`);
  });
  it("has no base URL where labels are off", () => {
    const unlabelled = pinOf({ offersLabels: false })(query, to("https://a.example"), "/v1", NOW);
    assert.deepEqual([typeof unlabelled?.token, unlabelled?.baseUrl], ["string", null]);
  });
  it("is none without a conversation or without a region", () => {
    assert.equal(pinOf()(aQuery(aPool([])), to("https://a.example"), "/v1", NOW), null);
    assert.equal(pinOf()(query, { status: 451, reasons: [] }, "/v1", NOW), null);
  });
});
