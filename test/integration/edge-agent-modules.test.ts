/** What a running agent has loaded: what it never uses costs memory on every host. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";

const AGENT = join(import.meta.dirname, "../../edge-agent");

/** Node's own parts that are loaded once these modules are. */
const builtinsOf = (...modules: readonly string[]): readonly string[] => {
  const loads = modules.map((module) => `await import(${JSON.stringify(join(AGENT, module))});`).join("");
  const script = `${loads} process.stdout.write(JSON.stringify(process.moduleLoadList))`;
  const list: readonly string[] = JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }),
  );
  return list.map((entry) => entry.replace("NativeModule ", ""));
};

describe("an agent that is started", () => {
  it("has loaded an HTTP client, and neither Node's fetch nor HTTP/2", () => {
    const loaded = builtinsOf("main.ts", "cli/run.ts");
    assert.ok(loaded.includes("_http_client"));
    assert.deepEqual(
      loaded.filter((name) => /deps\/undici|^http2$|webstreams/.test(name)),
      [],
    );
  });
});
