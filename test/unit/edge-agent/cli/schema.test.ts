/** The published forms of the agent's and the gateway's configuration: as printed, and true to what the programs take. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { jsonSchemaOf, printSchema, SCHEMAS } from "#edge-agent/cli/schema.ts";
import { schemasOf } from "#test/support/openapi-schemas.ts";

const NAMES = { agent: "edge-agent", gateway: "gateway" } as const;
const inDeploy = (name: string): string => readFileSync(`deploy/config/${name}`, "utf8");
const faultsOf = (of: "agent" | "gateway", settings: unknown) => schemasOf(jsonSchemaOf(of)).faultsOf([], settings);

for (const of of SCHEMAS) {
  const name = NAMES[of];
  describe(`the form of ${name}.yaml`, () => {
    it(`is deploy/config/${name}.schema.json, which is \`edge-agent schema ${of}\``, () => {
      const printed: string[] = [];
      printSchema(of, { print: (text) => void printed.push(text) });
      assert.equal(inDeploy(`${name}.schema.json`), printed.join(""));
    });
    it("is named by the example, which fits it with its variables", () => {
      const text = inDeploy(`${name}.yaml`);
      assert.match(text, new RegExp(`^# yaml-language-server: \\$schema=${name}\\.schema\\.json$`, "m"));
      assert.deepEqual(faultsOf(of, parse(text)), []);
    });
    it("refuses a key that there is not, and a value that is none", () => {
      const settings = parse(inDeploy(`${name}.yaml`));
      assert.notDeepEqual(faultsOf(of, { ...settings, regoin: "eu-central" }), []);
      assert.notDeepEqual(faultsOf(of, { ...settings, version: 2 }), []);
      assert.notDeepEqual(faultsOf(of, { ...settings, engines: "http://127.0.0.1:8000" }), []);
    });
  });
}
