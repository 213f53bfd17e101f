/** The examination as a whole: it ends in time, and is read from the worst on. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findingsText } from "#gtm/cli/doctor-text.ts";
import type { DoctorContext } from "#gtm/doctor/context.ts";
import { type Examined, examine } from "#gtm/doctor/examine.ts";
import { type Finding, listed, ok, problem, unknown, warning } from "#gtm/doctor/finding.ts";
import type { Subject } from "#gtm/doctor/subject.ts";
import { SUBJECTS } from "#gtm/doctor/subjects.ts";
import { OperationalError } from "#shared/errors.ts";

const subject = (name: string, look: () => Promise<readonly Finding[]>): Subject => ({ name, look });
/** These subjects look at nothing. */
const CONTEXT = {} as DoctorContext;
const run = (subjects: readonly Subject[], deadlineMs = 10_000) => {
  const done: string[] = [];
  const onDone = ({ subject }: Examined): void => {
    done.push(subject);
  };
  return examine(subjects, CONTEXT, { deadlineMs, onDone }).then((examined) => ({ examined, done }));
};

describe("an examination", () => {
  it("tells of each subject when it is done, and returns them in their order", async () => {
    const gate = Promise.withResolvers<readonly Finding[]>();
    const first = subject("first", () => gate.promise);
    const second = subject("second", async () => {
      setImmediate(() => gate.resolve([]));
      return [ok("x", "X.")];
    });
    const { examined, done } = await run([first, second]);
    assert.deepEqual(done, ["second", "first"]);
    assert.deepEqual(
      examined.map((one) => one.subject),
      ["first", "second"],
    );
  });
  it("ends although a subject hangs, and says which", async () => {
    const { examined } = await run([subject("store", () => new Promise(() => {}))], 20);
    assert.deepEqual(examined[0]?.findings, [
      unknown("not-looked-at", "The store could not be looked at within 0.02 s: something hangs."),
    ]);
  });
  it("goes on where the surroundings fail a subject", async () => {
    const failing = subject("keys", async () => {
      throw new OperationalError("GTM_CONFIG_UNREADABLE", "no such file");
    });
    const { examined } = await run([failing, subject("other", async () => [ok("x", "X.")])]);
    assert.match(examined[0]?.findings[0]?.what ?? "", /keys could not be looked at: no such file/);
    assert.equal(examined[1]?.findings.length, 1);
  });
  it("does not hide a bug", async () => {
    const faulty = subject("keys", async () => {
      throw new TypeError("a bug");
    });
    await assert.rejects(run([faulty]), TypeError);
  });
  it("has a name for each subject, and looks at what the design lists", () => {
    const names = SUBJECTS.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    for (const name of ["store", "clocks", "agents", "instances"]) assert.ok(names.includes(name), name);
  });
});

describe("findings as text", () => {
  const examined: readonly Examined[] = [
    { subject: "store", findings: [ok("store-answers", "It answers.")] },
    { subject: "clocks", findings: [] },
    {
      subject: "agents",
      findings: [problem("region-unreported", "No agent.", "Start one."), warning("w", "Old.", "Mend.")],
    },
    { subject: "keys", findings: [unknown("keys", "Not known.")] },
  ];
  it("begin with the subject that is worst off; what is in order has no name, what is amiss its remedy", () => {
    assert.equal(
      findingsText(examined, "table", false),
      [
        "AGENTS",
        "  problem  No agent. (region-unreported)",
        "           → Start one.",
        "  warning  Old. (w)",
        "           → Mend.",
        "",
        "KEYS",
        "  unknown  Not known. (keys)",
        "",
        "STORE",
        "  ok       It answers.",
        "",
        "1 problem, 1 warning, 1 unknown, 1 ok",
        "",
      ].join("\n"),
    );
  });
  it("are coloured where the terminal takes it, and aligned all the same", () => {
    const text = findingsText(examined, "table", true);
    assert.ok(text.includes("\u001b[31mproblem\u001b[0m  No agent"));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
    assert.equal(text.replaceAll(/\u001b\[\d+m/g, ""), findingsText(examined, "table", false));
  });
  it("as JSON carry subject, id, severity, sentence and remedy, and are counted", () => {
    const { items, counts } = JSON.parse(findingsText(examined, "json", false));
    assert.deepEqual(items[1], {
      ...{ subject: "agents", id: "region-unreported", severity: "problem", what: "No agent.", remedy: "Start one." },
    });
    assert.deepEqual(counts, { problem: 1, warning: 1, unknown: 1, ok: 1 });
    assert.equal(findingsText(examined, "jsonl", false).trimEnd().split("\n").length, 4);
  });
});

describe("a list in a sentence", () => {
  it("has an and before its last", () => {
    assert.deepEqual([listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])], ["a", "a and b", "a, b and c"]);
  });
});
