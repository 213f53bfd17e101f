/** Imports point one way, and each costly or foreign thing has one door: the tables of test/architecture/layers.ts, enforced. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { DOORS, LAYERS } from "./architecture/layers.ts";
import { offencesIn } from "./architecture/offences.ts";
import { HARMLESS, PLANTED } from "./architecture/planted.ts";
import { sourceFiles, TOP } from "./architecture/source-files.ts";

const sources = sourceFiles();

describe("every source file", () => {
  it("is found", () => {
    for (const folder of ["shared/", "gtm/domain/", "gtm/steering/", "edge-agent/", "deploy/", "test/"]) {
      assert.ok(
        sources.some(({ path }) => path.startsWith(folder)),
        `no source in ${folder}`,
      );
    }
  });
  it("belongs to a layer and imports only what that layer may", () => {
    const offences = sources.flatMap(({ path, text }) => offencesIn(path, text));
    assert.deepEqual(offences, []);
  });
});

describe("a planted offence", () => {
  for (const { what, path, text, says } of PLANTED) {
    it(`is seen: ${what}`, () => {
      const offences = offencesIn(path, text);
      assert.equal(offences.length > 0, true, "nothing was found");
      assert.match(offences.join("\n"), says);
    });
  }
});

describe("what is no offence", () => {
  for (const { what, path, text } of HARMLESS) {
    it(`is let through: ${what}`, () => assert.deepEqual(offencesIn(path, text), []));
  }
});

describe("the tables", () => {
  it("name only dependencies of package.json", () => {
    const manifest = JSON.parse(readFileSync(join(TOP, "package.json"), "utf8")) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    const named = [...DOORS.map(({ dependency }) => dependency), ...LAYERS.flatMap(({ may }) => may.filter(isPackage))];
    const unknown = named.filter((name) => !Object.hasOwn(manifest.dependencies, name));
    assert.deepEqual(unknown, []);
  });
});

/** Paths begin with a folder of ours or name the manifest; `node:` and `npm:` end in a colon. */
const isPackage = (name: string): boolean => !/^(?:shared|gtm|edge-agent|deploy|test)\/|^package\.json$|:$/.test(name);
