/** Who is forwarded to because it would not follow. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bearsRedirect } from "#gtm/wire/http/redirect-bearing.ts";

const bears = (agent: string, method = "POST"): boolean => bearsRedirect(method, { "user-agent": agent });

describe("a client by what it calls itself", () => {
  for (const agent of ["curl/7.88.1", "python-httpx/0.23.3", "Java-http-client/17.0.9", "AzureOpenAI/JS 7.59.0"]) {
    it(`does not follow: ${agent}`, () => assert.deepEqual([bears(agent), bears(agent, "GET")], [false, false]));
  }
  for (const agent of ["okhttp/4.5.0", "okhttp/3.14.9", "Python-urllib/3.11"]) {
    it(`follows without a body only: ${agent}`, () => {
      assert.deepEqual([bears(agent), bears(agent, "GET"), bears(agent, "HEAD")], [false, true, true]);
    });
  }
  for (const agent of ["OpenAI/Python 3.22.0", "OpenAI/JS 7.59.0", "python-requests/2.28.1", "okhttp/4.6.0", "node"]) {
    it(`follows: ${agent}`, () => assert.ok(bears(agent)));
  }
  it("follows where it says nothing, unless its body is made while it is sent", () => {
    assert.ok(bearsRedirect("POST", {}));
    assert.ok(!bearsRedirect("POST", { "user-agent": "node", "transfer-encoding": "chunked" }));
  });
});
