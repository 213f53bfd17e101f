/** The examples that `--help` prints: every command has some, a command takes the words of each, and those that look are run against a GTM. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { examplesOf, faultOfWords, wordsOf } from "#test/support/cli-commands.ts";
import { type House, startHouse } from "#test/support/house.ts";
import { until } from "#test/support/until.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";

const { examples, without } = examplesOf();

/** They ask a GTM and end by themselves; orders, keys, files and simulations have tests of their own. */
const LOOKING = new Set([
  ...["status", "instances", "regions", "placements", "models", "agents", "explain", "snapshot", "what-if"],
  ...["decisions list", "decisions show", "conversations list", "conversations show", "overrides list"],
  ...["overrides show", "operations list", "operations show", "audit", "acme list", "zones list", "zones records"],
  ...["config show", "completion values", "health", "version"],
]);
const folder = mkdtempSync(join(tmpdir(), "gtm-examples-"));

describe("the examples of gtm --help", () => {
  let house: House;
  const real = { decision: "", conversation: "", override: "", operation: "" };
  before(async () => {
    house = await startHouse({ regions: { probe: undefined } });
    for (let turn = 1; turn <= 2; turn++) {
      const { headers } = await house.ask({ conversation: "examples", tokens: 1_000 * turn });
      real.decision = String(headers["x-gtm-decision"]);
    }
    real.conversation = (await house.decision(real.decision)).conversation?.id ?? "";
    const get = async (path: string) =>
      (await fetch(house.adminUrl + path)).json() as Promise<{ items: { id: string }[] }>;
    await house.post("/overrides", { kind: "deny", region: "us-east", tenant: "acme", comment: "a test", for: "1h" });
    await house.post("/regions/us-east/drain", { mode: "drain-new", comment: "a test", for: "1h" });
    real.override = (await get("/overrides")).items[0]?.id ?? "";
    real.operation = (await get("/operations")).items[0]?.id ?? "";
    const seen = async () => (await fetch(`${house.adminUrl}/conversations/${real.conversation}`)).status === 200;
    await until(seen, "the conversation is in the list");
  });
  after(async () => {
    await house[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  /** With what there is here in place of what the example names. */
  const here = (command: string, words: readonly string[]): readonly string[] => {
    const [group = ""] = command.split(" ");
    const id = group === "overrides" ? real.override : group === "operations" ? real.operation : real.decision;
    const named = new Map([
      ["4q8t1v7k0c2me", real.conversation],
      ["llm.example.com", "llm.test"],
      ["snapshot.json", join(folder, "incident.json")],
      ["incident.json", join(folder, "incident.json")],
    ]);
    const server = command === "health" ? "--metrics-server" : "--server";
    const address = command === "health" ? house.metricsUrl : new URL(house.adminUrl).origin;
    const told = words
      .filter((word) => word !== server && !word.startsWith("http:"))
      .map((word) => named.get(word) ?? word.replace(/^01K[0-9A-Z]*…?$/, id));
    return command === "version" ? told : [...told, server, address];
  };

  it("are there for every command", () => {
    assert.deepEqual(without, []);
    assert.ok(examples.length > 100, `${examples.length} examples`);
    assert.deepEqual(
      [...LOOKING].filter((command) => !examples.some((one) => one.command === command)),
      [],
    );
  });
  it("are words that their commands take", async () => {
    for (const { line } of examples) assert.equal(await faultOfWords(wordsOf(line).slice(1)), null, line);
  });
  it("that look are answered by a GTM", async () => {
    // What is read from a file is written before.
    const order = ({ command, line }: (typeof examples)[number]): number =>
      command === "snapshot" ? 0 : line.includes("--offline") ? 2 : 1;
    const asked = examples.filter(({ command }) => LOOKING.has(command)).toSorted((a, b) => order(a) - order(b));
    for (const { command, line } of asked) {
      const { exitCode, err } = await runCli(here(command, wordsOf(line).slice(1)));
      assert.equal(exitCode, 0, `${line}: ${err}`);
    }
  });
});
