/** Tables on terminals that are too narrow for them: nothing is lost without a word. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { table } from "#gtm/cli/table.ts";
import { aConversation } from "#test/support/builders.ts";
import { type RunningAdmin, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";
import { runCli } from "./fake-io.ts";

const held = aConversation({ home: "frankfurt", contextTokens: 20_000 });
let admin: RunningAdmin;
before(async () => {
  admin = await runningAdmin({ conversations: [held] });
  for (let i = 0; i < 3; i++) {
    admin.gtm.decide({ channel: "http", kind: "turn", conversationId: held.id, promptTokens: 20_100 });
  }
  const comment = "the driver of the third rack has to be updated before Thursday, says the vendor, or else";
  await admin.ask("POST", "/regions/paris/drain", { body: { mode: "drain-new", comment } });
  const body = { kind: "deny", region: "frankfurt", tenant: "acme-of-some-length", comment, for: "1h" };
  await admin.ask("POST", "/overrides", { body });
});
after(() => admin[Symbol.asyncDispose]());

const run = (columns: number | null, ...words: string[]) =>
  runCli([...words, "--server", admin.url], columns === null ? {} : { columns });
const headersIn = (text: string): readonly string[] => (text.split("\n")[0] ?? "").split(/ {2,}/);

const LISTS = [
  ["decisions", "list"],
  ["regions"],
  ["placements"],
  ["conversations", "list"],
  ["overrides", "list"],
  ["operations", "list"],
  ["models"],
  ["audit"],
];

for (const columns of [80, 100, 160]) {
  describe(`on a terminal of ${columns} columns`, () => {
    for (const words of LISTS) {
      it(`gtm ${words.join(" ")} fits, and names what it leaves out`, async () => {
        const [here, wide] = [await run(columns, ...words), await run(columns, ...words, "--wide")];
        assert.equal(here.exitCode, 0, here.err);
        for (const line of here.out.split("\n")) assert.ok(line.length <= columns, `${line.length}: ${line}`);
        const missing = headersIn(wide.out).filter((header) => !headersIn(here.out).includes(header));
        for (const header of missing)
          assert.match(here.out.replaceAll("\n", " "), new RegExp(`Not in .*${header.replace("/", "\\/")}`));
        assert.equal(here.out.includes("…"), here.out.includes("… marks what is shortened."), here.out);
        assert.doesNotMatch(wide.out, /…|--wide/);
      });
    }
  });
}

describe("a table", () => {
  it("has all its columns in a file or a pipe", async () => {
    assert.equal((await run(null, "decisions", "list")).out, (await run(80, "decisions", "list", "--wide")).out);
  });
  it("of decisions has id, time, verdict and region at 80 columns, whole", async () => {
    const { out } = await run(80, "decisions", "list");
    assert.deepEqual(headersIn(out).slice(0, 4), ["AT", "DECISION", "VERDICT", "REGION"]);
    assert.doesNotMatch(out, /…/);
  });
  it("that fits is as it is", () => {
    const columns = [
      { header: "A", leave: 1 },
      { header: "B", canShorten: true as const },
    ];
    const rows = [["one", "a text of some length"]];
    assert.equal(table(columns, rows, { isColourful: false, columns: 26 }), table(columns, rows, false));
    assert.equal(
      table(columns, rows, { isColourful: false, columns: 20 }),
      "A    B\none  a text of some…\n… marks what is\nshortened. --wide\nshows all.\n",
    );
  });
  it("prints decisions as they are made in as many columns as fit, and says so beside them", async () => {
    const tail = run(80, "decisions", "tail", "--count", "1");
    while ((await admin.metrics.text()).match(/^gtm_admin_event_readers 1$/m) === null) await new Promise(setImmediate);
    admin.gtm.decide({ channel: "http", kind: "turn", conversationId: held.id, promptTokens: 20_100 });
    const { out, err } = await tail;
    for (const line of out.split("\n")) assert.ok(line.length <= 80, line);
    assert.match(err, /^Not in 80 columns: /);
  });
});
