import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exposedHeaders, isPreflight, preflightHeaders } from "#gtm/wire/http/cors.ts";

describe("a preflight", () => {
  const headers = {
    origin: "null",
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization, content-type, x-stainless-os",
  };
  it("is told from other OPTIONS by what it asks", () => {
    assert.equal(isPreflight("OPTIONS", headers), true);
    assert.equal(isPreflight("OPTIONS", { origin: "null" }), false);
    assert.equal(isPreflight("OPTIONS", { "access-control-request-method": "POST" }), false);
    assert.equal(isPreflight("POST", headers), false);
  });
  it("is granted method and headers by name, Authorization included, from Origin null", () => {
    assert.deepEqual(preflightHeaders(headers), {
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Allow-Methods": "POST",
      "Access-Control-Allow-Headers": "authorization, content-type, x-stainless-os",
      "Access-Control-Max-Age": "86400",
      Vary: "Access-Control-Request-Method, Access-Control-Request-Headers",
    });
  });
  it("that asks for no headers is granted none", () => {
    const granted = preflightHeaders({ origin: "null", "access-control-request-method": "GET" });
    assert.equal("Access-Control-Allow-Headers" in granted, false);
  });
});

describe("an answer to a page", () => {
  it("may be read by it, our headers included", () => {
    const exposed = exposedHeaders({ origin: "https://app.example" });
    assert.equal(exposed?.["Access-Control-Allow-Origin"], "*");
    for (const header of ["X-GTM-Region", "X-GTM-Pin", "X-GTM-Pinned-Base-URL", "Server-Timing", "Retry-After"]) {
      assert.match(exposed?.["Access-Control-Expose-Headers"] ?? "", new RegExp(`\\b${header}\\b`));
    }
  });
  it("to anybody else says nothing of the kind", () => assert.equal(exposedHeaders({}), null));
});
