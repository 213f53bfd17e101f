/** Who may use the admin API, as the configuration says it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AdminAuth, adminAuthOf } from "#gtm/config/admin-settings.ts";

const OIDC = {
  issuer: "https://id.example.org/ops",
  audience: "llm-gtm",
  roles: [{ value: "eu-oncall", role: "operator", regions: ["eu-*"] }],
};
const faultsOf = (settings: unknown): readonly string[] =>
  (AdminAuth.safeParse(settings).error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);

describe("admin.auth", () => {
  it("asks nobody for a token where nothing is said, and lets tokens of the API stand for 90 d", () => {
    assert.deepEqual(adminAuthOf(AdminAuth.parse({})), {
      ...{ tokensFile: null, oidc: null, mostTokenMs: 90 * 86_400_000, withoutStoreMs: 86_400_000 },
    });
  });
  it("takes an identity provider by its issuer, audience and roles", () => {
    assert.deepEqual(adminAuthOf(AdminAuth.parse({ oidc: OIDC })).oidc, {
      ...{ issuer: "https://id.example.org/ops", audience: "llm-gtm", jwksUrl: null },
      ...{ nameClaim: "sub", roleClaim: "roles", roles: OIDC.roles },
    });
  });
  it("takes one in clear on this host only", () => {
    for (const issuer of ["http://127.0.0.1:8080/realm", "http://localhost:8080", "http://[::1]/x"]) {
      assert.deepEqual(faultsOf({ oidc: { ...OIDC, issuer } }), []);
    }
  });
  const faults: readonly { what: string; settings: unknown; says: RegExp }[] = [
    {
      what: "an issuer in clear",
      settings: { oidc: { ...OIDC, issuer: "http://id.example.org" } },
      says: /^oidc\.issuer: must be an https URL/,
    },
    {
      what: "a host that only begins like this one",
      settings: { oidc: { ...OIDC, issuer: "http://127.0.0.1.example.org" } },
      says: /^oidc\.issuer/,
    },
    {
      what: "keys in clear",
      settings: { oidc: { ...OIDC, jwks_url: "http://id.example.org/keys" } },
      says: /^oidc\.jwks_url/,
    },
    {
      what: "a password in the address",
      settings: { oidc: { ...OIDC, issuer: "https://a:b@id.example.org" } },
      says: /^oidc\.issuer/,
    },
    { what: "no roles", settings: { oidc: { ...OIDC, roles: [] } }, says: /^oidc\.roles/ },
    {
      what: "a role that is no step",
      settings: { oidc: { ...OIDC, roles: [{ value: "x", role: "acme" }] } },
      says: /^oidc\.roles\.0\.role/,
    },
    {
      what: "a glob with a space",
      settings: { oidc: { ...OIDC, roles: [{ value: "x", role: "viewer", pools: ["a b"] }] } },
      says: /^oidc\.roles\.0\.pools\.0: must be a glob/,
    },
    {
      what: "tokens for longer than 400 d",
      settings: { tokens_for: "401d" },
      says: /^tokens_for: must be 400d or less/,
    },
    { what: "tokens for less than a minute", settings: { tokens_for: "1s" }, says: /^tokens_for: must be 1m or more/ },
    {
      what: "tokens that are believed for months",
      settings: { tokens_without_store: "31d" },
      says: /^tokens_without_store/,
    },
    { what: "a misspelt key", settings: { token_file: "x" }, says: /token_file/ },
  ];
  for (const { what, settings, says } of faults) {
    it(`does not take ${what}`, () => assert.match(faultsOf(settings).join("\n"), says));
  }
});
