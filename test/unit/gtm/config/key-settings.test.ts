/** `keys:` of the configuration. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseGtmConfig } from "#gtm/config.ts";
import { houseYaml } from "#test/support/house.ts";

const configWith = (keys: object) =>
  parseGtmConfig(JSON.stringify({ ...JSON.parse(houseYaml(() => "http://127.0.3.9:1")), keys }), "gtm.yaml", {});

const NONE = { identity: null, signing: null, ticket: null, reports: null, cookie: null };

describe("keys in the configuration", () => {
  it("are none where none are given", () => {
    assert.deepEqual(configWith({}).keys, NONE);
  });
  it("are named by their files, which are not read yet", () => {
    const keys = { identity_file: "/k/i", signing_file: "/k/s", ticket_file: "/k/t", reports_file: "/k/r" };
    const files = { identity: "/k/i", signing: "/k/s", ticket: "/k/t", reports: "/k/r", cookie: null };
    assert.deepEqual(configWith(keys).keys, files);
  });
  it("of reports, tickets and cookies stand alone", () => {
    assert.equal(configWith({ cookie_file: "/k/c" }).keys.cookie, "/k/c");
    assert.equal(configWith({ reports_file: "/k/r" }).keys.reports, "/k/r");
    assert.equal(configWith({ ticket_file: "/k/t" }).keys.ticket, "/k/t");
  });
  const cases: readonly (readonly [string, object, RegExp])[] = [
    ["an identity without a signing key", { identity_file: "/k/i" }, /keys\.signing_file: .*together, or neither/],
    ["a signing key without an identity", { signing_file: "/k/s" }, /keys\.identity_file: .*together, or neither/],
    ["an unknown key", { identity: "/k/i" }, /keys\.identity: unknown key/],
    ["a file without a name", { reports_file: "" }, /keys\.reports_file: /],
  ];
  for (const [what, keys, says] of cases) {
    it(`are refused: ${what}`, () => {
      assert.throws(() => configWith(keys), { code: "GTM_CONFIG_INVALID", message: says });
    });
  }
});
