import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createSseCut } from "#shared/sse-events.ts";
import { failureEvent } from "#shared/sse-failure.ts";

const text = (octets: Uint8Array): string => Buffer.from(octets).toString();
const octets = (from: string): Uint8Array => Buffer.from(from);

describe("a stream of events that is cut where one ends", () => {
  const cases: readonly { when: string; chunk: string; passes: string }[] = [
    { when: "a chunk is whole events", chunk: "data: 1\n\ndata: 2\n\n", passes: "data: 1\n\ndata: 2\n\n" },
    { when: "the last event is half", chunk: "data: 1\n\ndata: 2\n", passes: "data: 1\n\n" },
    { when: "nothing is whole", chunk: "data: 1", passes: "" },
    { when: "lines end with CR LF", chunk: "data: 1\r\n\r\ndata", passes: "data: 1\r\n\r\n" },
    { when: "lines end with CR", chunk: "data: 1\r\rdata", passes: "data: 1\r\r" },
    { when: "a line of CR LF is no empty one", chunk: "data: 1\r\ndata: 2\r\n", passes: "" },
  ];
  for (const { when, chunk, passes } of cases) {
    it(`passes ${JSON.stringify(passes)} when ${when}`, () =>
      assert.equal(text(createSseCut().pass(octets(chunk))), passes));
  }

  it("hands a chunk of whole events on as it is, without a copy", () => {
    const chunk = octets("data: 1\n\n");
    assert.equal(createSseCut().pass(chunk), chunk);
  });

  it("does not wait for an event of more than 64 KiB, and says that it is torn until it ends", () => {
    const cut = createSseCut();
    assert.equal(cut.pass(octets("x".repeat(70_000))).length, 70_000);
    assert.equal(cut.isBetween(), false);
    assert.equal(text(cut.pass(octets("yy"))), "yy");
    assert.equal(text(cut.pass(octets("\n\nz"))), "\n\n");
    assert.equal(cut.isBetween(), true);
    assert.equal(text(cut.rest()), "z");
  });

  it("loses and invents nothing, however it is cut, and passes only whole events", () => {
    const parts = fc.array(fc.constantFrom("data: a\n", "\n", "\r\n", "\r", "id: 1\r\n", "x"), { maxLength: 40 });
    fc.assert(
      fc.property(parts, fc.array(fc.nat(9), { maxLength: 40 }), (pieces, cuts) => {
        const whole = pieces.join("");
        const cut = createSseCut();
        let passed = "";
        let at = 0;
        for (const length of [...cuts, whole.length]) {
          passed += text(cut.pass(octets(whole.slice(at, at + length))));
          at += length;
          assert.ok(passed === "" || /(?:\n|\r)(?:\r\n|\n|\r)$/.test(passed));
        }
        assert.equal(passed + text(cut.rest()), whole);
      }),
    );
  });
});

describe("the event that ends a broken stream", () => {
  it("is a chunk with an error, and the end, for chat completions", () => {
    const [first = "", second] = failureEvent("/v1/chat/completions", "gone").split("\n\n");
    assert.equal(JSON.parse(first.slice("data: ".length)).error.message, "gone");
    assert.equal(second, "data: [DONE]");
  });
  it("is Anthropic's error event for messages", () => {
    const [name, data = ""] = failureEvent("/v1/messages", "gone").split("\n");
    assert.equal(name, "event: error");
    assert.deepEqual(JSON.parse(data.slice(6)), { type: "error", error: { type: "api_error", message: "gone" } });
  });
  it("is the error event of the Responses API for responses", () => {
    const [name, data = ""] = failureEvent("/v1/responses", "gone").split("\n");
    assert.equal(name, "event: error");
    assert.equal(JSON.parse(data.slice(6)).message, "gone");
  });
});
