/** The fields of a form that are found while it passes by. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { boundaryIn, createFormScan } from "#gtm/wire/http/form-scan.ts";

const PATHS = ["model", "user", "prompt_cache_key"];
const scanOf = (boundary: string, octets: Buffer, places: readonly number[] = []) => {
  const scan = createFormScan(boundary, { paths: PATHS });
  const ends = [...places.map((place) => place % (octets.length + 1)).toSorted((a, b) => a - b), octets.length];
  let from = 0;
  for (const end of ends) {
    const chunk = Buffer.from(octets.subarray(from, end));
    scan.write(chunk);
    chunk.fill(0x2d);
    from = end;
  }
  return scan.scanned();
};
const formOf = async (fields: readonly (readonly [string, string | Blob])[]) => {
  const data = new FormData();
  for (const [name, value] of fields) data.append(name, value);
  const response = new Response(data);
  const boundary = boundaryIn({ "content-type": response.headers.get("content-type") ?? "" });
  assert.ok(boundary !== null);
  return { boundary, octets: Buffer.from(await response.arrayBuffer()) };
};
const found = (text: string) => Object.fromEntries(scanOf("b", Buffer.from(text)).values);
const part = (head: string, value: string): string => `--b\r\n${head}\r\n\r\n${value}\r\n`;
const named = (name: string, value: string): string => part(`Content-Disposition: form-data; name="${name}"`, value);

describe("a form as fetch sends it", () => {
  it("yields wanted fields, wherever the recording stands and however it is cut", async () => {
    const recording = new Blob([Buffer.alloc(200_000, "\r\n--")], { type: "audio/wav" });
    const { boundary, octets } = await formOf([
      ["model", "whisper"],
      ["file", recording],
      ["x", "y"],
      ["user", "Zoë\r\n--"],
    ]);
    const expected = { model: "whisper", user: "Zoë\r\n--" };
    assert.deepEqual(Object.fromEntries(scanOf(boundary, octets).values), expected);
    const single = [...octets.keys()].slice(0, 400);
    assert.deepEqual(Object.fromEntries(scanOf(boundary, octets, single).values), expected);
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 30 }), (places) => {
        assert.deepEqual(Object.fromEntries(scanOf(boundary, octets, places).values), expected);
      }),
      { numRuns: 50 },
    );
  });
});

describe("a form by hand", () => {
  const cases: readonly { what: string; text: string; expected: Record<string, string> }[] = [
    { what: "an empty value", text: `${named("model", "")}--b--`, expected: { model: "" } },
    {
      what: "the last of two fields of one name",
      text: `${named("model", "a")}${named("model", "b")}--b--`,
      expected: { model: "b" },
    },
    {
      what: "no file",
      text: `${part('Content-Disposition: form-data; name="model"; filename="m"', "a")}--b--`,
      expected: {},
    },
    {
      what: "a file whose name says something else",
      text: `${part('Content-Disposition: form-data; filename="x"; name="model"', "a")}--b--`,
      expected: {},
    },
    {
      what: "other headers",
      text: `${part('Content-Type: text/plain\r\ncontent-disposition: form-data; name="model"', "a")}--b--`,
      expected: { model: "a" },
    },
    {
      what: "blanks behind the boundary",
      text: `${named("model", "a").replace("--b\r\n", "--b  \r\n")}--b--`,
      expected: { model: "a" },
    },
    { what: "what stands before", text: `preamble\r\n${named("model", "a")}--b--`, expected: { model: "a" } },
    {
      what: "nothing behind the end",
      text: `${named("model", "a")}--b--\r\n${named("user", "u")}`,
      expected: { model: "a" },
    },
    {
      what: "no value without an end",
      text: '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nabc',
      expected: {},
    },
    { what: "a part without headers", text: `--b\r\n\r\nx\r\n${named("model", "a")}--b--`, expected: { model: "a" } },
    { what: "nothing else", text: "model=a", expected: {} },
  ];
  for (const { what, text, expected } of cases) it(`yields ${what}`, () => assert.deepEqual(found(text), expected));
  it("gives up a value that is longer than any name, and says so", () => {
    const scanned = scanOf("b", Buffer.from(`${named("user", "x".repeat(3_000))}--b--`));
    assert.deepEqual([[...scanned.tooLong], scanned.values.size], [["user"], 0]);
  });
  it("keeps nothing of a head that does not end", () => {
    assert.deepEqual(found(`--b\r\n${"x".repeat(100_000)}\r\n${named("model", "a")}`), {});
  });
});

describe("the boundary", () => {
  const cases: readonly (readonly [string, string | null])[] = [
    ["multipart/form-data; boundary=abc", "abc"],
    ['Multipart/Form-Data; charset=utf-8; boundary="a b"', "a b"],
    ["multipart/form-data", null],
    ["multipart/mixed; boundary=abc", null],
    [`multipart/form-data; boundary=${"x".repeat(71)}`, null],
    ["application/json", null],
  ];
  for (const [type, boundary] of cases)
    it(`of ${type} is ${boundary}`, () => assert.equal(boundaryIn({ "content-type": type }), boundary));
});

describe("any octets", () => {
  it("never throw", () => {
    const token = fc.constantFrom(
      "--b",
      "\r\n",
      "--",
      "\r\n\r\n",
      'Content-Disposition: form-data; name="model"',
      "x",
      "\r",
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 40 }), fc.array(fc.nat(), { maxLength: 9 }), (tokens, places) => {
        const octets = Buffer.from(tokens.join(""));
        assert.deepEqual(scanOf("b", octets, places).values, scanOf("b", octets).values);
      }),
    );
  });
});
