import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { configJsonSchema } from "#gtm/config/config-schema.ts";
import { restartRoots } from "#gtm/config/settings-at-start.ts";
import { SETTINGS, settingAt } from "#gtm/config/settings-table.ts";

type Node = { readonly [key: string]: unknown };

/** Every key that holds a value, as the table writes it. */
const keysOf = (node: unknown, at: string): readonly string[] => {
  const { properties, items, anyOf, oneOf } = node as Node;
  const branches = [anyOf, oneOf].flatMap((one) => (Array.isArray(one) ? one : []));
  const inner = branches.filter((one) => one.properties !== undefined || one.items !== undefined);
  if (inner.length > 0) return inner.flatMap((one) => keysOf(one, at));
  if (properties !== undefined) {
    return Object.entries(properties as Node).flatMap(([key, one]) => keysOf(one, at === "" ? key : `${at}.${key}`));
  }
  return items === undefined ? [at] : keysOf(items, `${at}[]`);
};

describe("the table of settings", () => {
  const keys = [...new Set(keysOf(configJsonSchema(), ""))];

  it("says of every key of the schema what it means and when a change takes effect", () => {
    assert.ok(keys.length > 100, `${keys.length} keys`);
    assert.deepEqual(
      keys.filter((key) => settingAt(key) === null),
      [],
      "add a row to gtm/config/settings-of-*.ts",
    );
  });

  it("has no row that the schema has no key for, and none twice", () => {
    const rows = SETTINGS.map(([at]) => at);
    assert.deepEqual(
      rows.filter((row) => !keys.includes(row)),
      [],
    );
    assert.equal(new Set(rows).size, rows.length);
  });

  it("finds a key that nobody has classified", () => {
    const planted = { properties: { policy: { properties: { margin: {}, new_number: {} } } } };
    assert.deepEqual(
      keysOf(planted, "").filter((key) => settingAt(key) === null),
      ["policy.new_number"],
    );
  });

  it("is the table of docs/configuration.md, row by row", () => {
    const rows = SETTINGS.map(
      ([at, effect, says]) =>
        `| \`${at}\` | ${effect === "live" ? "at once" : "at a restart"} | ${says.replaceAll("|", "\\|")} |`,
    );
    const told = readFileSync("docs/configuration.md", "utf8").split("\n");
    assert.deepEqual(
      told.filter((line) => line.startsWith("| `")),
      rows,
    );
  });

  it("is in the published schema, which is `gtm schema > deploy/config/gtm.schema.json`", () => {
    const published = readFileSync("deploy/config/gtm.schema.json", "utf8");
    assert.equal(published, `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
  });
});

describe("what waits for a restart", () => {
  it("is taken whole where nothing else lies in it, and key by key where something does", () => {
    const rows = ["store.url", "store.deadline", "keys.identity", "keys.ticket", "dns.listen[]", "roles[].a", "log"];
    const restart = new Set(["store.url", "store.deadline", "keys.identity", "dns.listen[]", "roles[].a"]);
    assert.deepEqual(restartRoots(rows, restart), ["store", "keys.identity", "dns", "roles"]);
  });
});
