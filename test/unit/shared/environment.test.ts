// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables are what these tests are about
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { substituteEnvironment } from "#shared/environment.ts";

const env = { HOST: "gtm-1", EMPTY: "", CURLY: "a}b", NESTED: "${HOST}", _x9: "under" };

describe("text with variables", () => {
  const cases: readonly { readonly text: string; readonly becomes: string; readonly because: string }[] = [
    { text: "no variable", becomes: "no variable", because: "there is nothing to do" },
    { text: "${HOST}", becomes: "gtm-1", because: "the variable is set" },
    { text: "a ${HOST} b ${_x9}", becomes: "a gtm-1 b under", because: "each is put in its place" },
    { text: "${HOST:-other}", becomes: "gtm-1", because: "a set variable goes before its default" },
    { text: "${NONE:-memory:}", becomes: "memory:", because: "a default may hold colons" },
    { text: "${NONE:-}", becomes: "", because: "a default may be empty" },
    { text: "${EMPTY:-other}", becomes: "other", because: "an empty variable takes its default, as in a shell" },
    { text: "${EMPTY}", becomes: "", because: "an empty variable is set" },
    { text: "${CURLY}", becomes: "a}b", because: "a value may hold anything" },
    { text: "${NESTED}", becomes: "${HOST}", because: "a value is taken as it is" },
    { text: "$${HOST}", becomes: "${HOST}", because: "two dollar signs stand for one" },
    { text: "$HOST $5 {HOST}", becomes: "$HOST $5 {HOST}", because: "only braces after a dollar sign are a reference" },
  ];
  for (const { text, becomes, because } of cases) {
    it(`"${text}" is "${becomes}": ${because}`, () => {
      assert.deepEqual(substituteEnvironment(text, env), { kind: "text", text: becomes });
    });
  }
});

describe("text whose variables cannot be put in", () => {
  const cases: readonly { readonly text: string; readonly says: RegExp }[] = [
    { text: "${NONE}", says: /NONE is not set and has no default/ },
    { text: "${NONE} and ${ALSO_NONE}", says: /NONE is not set.*; .*ALSO_NONE is not set/ },
    { text: "${}", says: /is not a reference/ },
    { text: "${HOST NAME}", says: /is not a reference/ },
    { text: "${9}", says: /is not a reference/ },
    { text: "${HOST:other}", says: /is not a reference/ },
    { text: "${HOST", says: /is not a reference/ },
    { text: "${toString}", says: /toString is not set/ },
  ];
  for (const { text, says } of cases) {
    it(`"${text}" says ${says.source}`, () => {
      const substituted = substituteEnvironment(text, env);
      assert.equal(substituted.kind, "fault");
      assert.match(substituted.kind === "fault" ? substituted.message : "", says);
    });
  }
  it("never shows the value of another variable", () => {
    const substituted = substituteEnvironment("${SECRET} ${NONE}", { SECRET: "hunter2" });
    assert.doesNotMatch(JSON.stringify(substituted), /hunter2/);
  });
});
