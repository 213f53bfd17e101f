import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { describe, it } from "node:test";
import { createTenantOf } from "#gtm/wire/http/tenant.ts";
import { createLabels, ephemeralLabelKeys } from "#shared/pin-token.ts";

const labels = createLabels(ephemeralLabelKeys());
const tenantOf = createTenantOf(labels);
const of = (headers: IncomingHttpHeaders, tenantHeader: string | null = null): string =>
  tenantOf(headers, tenantHeader);

describe("a tenant", () => {
  it("is what the configured header says, where that counts", () => {
    assert.equal(of({ "x-tenant": "acme", authorization: "Bearer k" }, "x-tenant"), "acme");
  });
  it("is told by the credential where the header does not count", () => {
    assert.match(of({ "x-tenant": "acme", authorization: "Bearer k" }), /^key-[0-9a-v]{13}$/);
  });
  for (const name of ["", "with space", "\x07", "x".repeat(129)]) {
    it(`is not what can be neither shown nor matched: ${JSON.stringify(name.slice(0, 12))}`, () => {
      assert.equal(of({ "x-tenant": name }, "x-tenant"), "default");
    });
  }
  it("is the same for one key, whichever header carries it", () => {
    const tenant = of({ authorization: "Bearer sk-1" });
    assert.equal(of({ authorization: "bearer  sk-1" }), tenant);
    assert.equal(of({ "x-api-key": "sk-1" }), tenant);
    assert.notEqual(of({ "x-api-key": "sk-2" }), tenant);
  });
  it("does not contain the key", () => {
    assert.doesNotMatch(of({ authorization: "Bearer sk-secret" }), /secret/);
  });
  it("is the same on every instance, and after ten thousand others", () => {
    const tenant = of({ "x-api-key": "sk-1" });
    for (let other = 0; other < 10_001; other++) of({ "x-api-key": `other-${other}` });
    assert.equal(of({ "x-api-key": "sk-1" }), tenant);
    assert.equal(createTenantOf(labels)({ "x-api-key": "sk-1" }, null), tenant);
  });
  it("is the default one without any credential", () => {
    assert.equal(of({}), "default");
    assert.equal(of({ authorization: "" }), "default");
  });
});
