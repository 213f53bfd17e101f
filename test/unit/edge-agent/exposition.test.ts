import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseExposition } from "#edge-agent/exposition.ts";
import { labelOf } from "#edge-agent/exposition-line.ts";
import { enginePayload } from "#test/support/vllm-page.ts";

const values = (text: string, name: string): readonly number[] =>
  (parseExposition(text).samples.get(name) ?? []).map(({ value }) => value);

const labels = (text: string): Readonly<Record<string, string>> => {
  const [samples = []] = parseExposition(text).samples.values();
  const [sample] = samples;
  assert.ok(sample);
  return Object.fromEntries(sample.labelNames.map((name) => [name, labelOf(sample, name) ?? ""]));
};

describe("one line of a page", () => {
  const cases: readonly { readonly line: string; readonly value: number }[] = [
    { line: "a 1", value: 1 },
    { line: "a{} 1", value: 1 },
    { line: "a 1.5e3", value: 1_500 },
    { line: "a -.5", value: -0.5 },
    { line: 'a{b="c"} 2 1796000000000', value: 2 },
    { line: 'a{b="c"} 3 # {trace_id="x y"} 0.5 1796000000.1', value: 3 },
    { line: 'a { b = "c" , } 4', value: 4 },
    { line: "\ta\t5\r", value: 5 },
    { line: "a NaN", value: Number.NaN },
    { line: "a +Inf", value: Number.POSITIVE_INFINITY },
    { line: "a -Inf", value: Number.NEGATIVE_INFINITY },
  ];
  for (const { line, value } of cases) {
    it(`says ${value}: ${JSON.stringify(line)}`, () => {
      const page = parseExposition(`${line}\n`);
      assert.deepEqual(
        page.samples.get("a")?.map((sample) => sample.value),
        [value],
      );
      assert.deepEqual(page.faults, []);
    });
  }

  it("keeps braces, commas, quotes and line feeds inside label values", () => {
    assert.deepEqual(labels('a{b="}, c=\\"d\\"",e="\\\\",f="g\\nh"} 1\n'), { b: '}, c="d"', e: "\\", f: "g\nh" });
  });

  const malformed: readonly string[] = [
    "a",
    "a ",
    "a x",
    "a 0x10",
    "a 1_000",
    "a{b} 1",
    "a{b=c} 1",
    'a{b="c} 1',
    'a{b="c"d="e"} 1',
    'a{b="c",b="d"} 1',
    'a{="c"} 1',
    'a{b="c"',
    'a{b="c\\"} 1',
  ];
  for (const line of malformed) {
    it(`is malformed, and told by name: ${line}`, () => {
      const page = parseExposition(`ok 1\n${line}\nok2 2\n`);
      assert.equal(page.samples.has("a"), false);
      assert.deepEqual(page.faults, [{ field: "a", code: "malformed-line" }]);
      assert.deepEqual([...page.samples.keys()], ["ok", "ok2"]);
    });
  }

  it("is told as the page's fault where it has not even a name", () => {
    assert.deepEqual(parseExposition("{} 1\n").faults, [{ field: "page", code: "malformed-line" }]);
  });
});

describe("a page", () => {
  it("that is empty has no samples and no faults", () => {
    assert.deepEqual(parseExposition(""), { samples: new Map(), contradicted: new Set(), faults: [] });
  });
  it("is indexed by sample name, comments passed over", () => {
    const page = parseExposition(enginePayload("vllm-v1-current.t1.prom"));
    assert.equal(page.samples.get("vllm:prompt_tokens_total")?.length, 2);
    assert.equal(page.samples.get("vllm:prompt_tokens"), undefined);
    assert.equal(page.samples.get("vllm:iteration_tokens_total_bucket")?.length, 28);
    assert.deepEqual(page.faults, []);
  });
  it("in OpenMetrics is read by the same names, up to # EOF", () => {
    const page = parseExposition(`${enginePayload("openmetrics-flavour.prom")}vllm:after_the_end 1\n`, {
      isOpenMetrics: true,
    });
    assert.deepEqual(
      [...page.samples.keys()],
      ["vllm:prompt_tokens_total", "vllm:prompt_tokens_created", "vllm:num_requests_running"],
    );
    assert.deepEqual(page.faults, []);
  });
  it("may end with # EOF and no line feed", () => {
    assert.deepEqual(values("a 1\n# EOF", "a"), [1]);
  });
  it("of one name in two orders of labels is still two series", () => {
    assert.deepEqual(values('a{b="1",c="2"} 1\na{c="3",b="1"} 2\n', "a"), [1, 2]);
  });
});

describe("a page that came half", () => {
  const half = [{ field: "page", code: "half-sent" }];
  it("is unknown as a whole when it ends inside a line", () => {
    const page = parseExposition('a{e="0"} 12\na{e="1"} 1');
    assert.deepEqual(page.faults, half);
    assert.equal(page.samples.size, 0);
  });
  it("is unknown when it ends inside a comment", () => {
    assert.deepEqual(parseExposition("a 1\n# HEL").faults, half);
  });
  it("is unknown when OpenMetrics has no # EOF, which text need not have", () => {
    assert.deepEqual(parseExposition("a 1\n", { isOpenMetrics: true }).faults, half);
    assert.deepEqual(parseExposition("a 1\n").faults, []);
  });
  it("is noticed wherever a real page is cut inside a line", () => {
    const whole = enginePayload("vllm-v1-current.t1.prom");
    for (let cut = 1; cut < whole.length; cut += 97) {
      const isAtLineEnd = whole[cut - 1] === "\n";
      assert.equal(parseExposition(whole.slice(0, cut)).faults[0]?.code === "half-sent", !isAtLineEnd, `cut at ${cut}`);
    }
  });
});

describe("a series that stands twice", () => {
  it("with the same value is kept once and told", () => {
    const page = parseExposition('a{b="1"} 5\na{b="2"} 6\na{b="1"} 5\n');
    assert.deepEqual(
      page.samples.get("a")?.map(({ value }) => value),
      [5, 6],
    );
    assert.deepEqual(page.faults, [{ field: "a", code: "duplicate" }]);
    assert.equal(page.contradicted.size, 0);
  });
  it("with different values is unknown and told", () => {
    const page = parseExposition('a{b="1"} 5\na{b="1"} 0\n');
    assert.deepEqual(
      page.samples.get("a")?.map(({ value }) => value),
      [Number.NaN],
    );
    assert.deepEqual([...page.contradicted], ["a"]);
  });
  it("stays unknown when a third line agrees with the first", () => {
    assert.deepEqual(values('a{b="1"} 5\na{b="1"} 0\na{b="1"} 5\n', "a"), [Number.NaN]);
  });
  it("is noticed in another order and spelling of its labels", () => {
    const page = parseExposition('a{b="1",c="2"} 5\na{ c="2", b="1", } 7\n');
    assert.deepEqual([...page.contradicted], ["a"]);
  });
});

describe("a hostile page", () => {
  it("of a hundred thousand unclosed braces is read in one pass", () => {
    const page = parseExposition('a{b="\n'.repeat(100_000));
    assert.deepEqual(page.faults, [{ field: "a", code: "malformed-line" }]);
  });
  it("names sixteen malformed names and not more", () => {
    const text = Array.from({ length: 1_000 }, (_, at) => `name${at} x\n`).join("");
    assert.equal(parseExposition(text).faults.length, 16);
  });
  it("cannot reach the prototype by a name or a label", () => {
    const page = parseExposition('__proto__{__proto__="x"} 1\nconstructor 2\n');
    assert.deepEqual(page.samples.get("__proto__")?.[0]?.labelValues, ["x"]);
    assert.deepEqual(page.samples.get("constructor")?.[0]?.value, 2);
  });
});
