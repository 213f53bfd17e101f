/** However a reply is cut into pieces, also within a character or between CR and LF, the same is read in it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createUsageReader, type Usage } from "#edge-agent/gateway/usage.ts";
import * as replies from "#test/support/replies.ts";

const STREAMS = [
  replies.CHAT_STREAM,
  replies.CHAT_STREAM_SILENT,
  replies.TOOL_STREAM,
  replies.LEGACY_STREAM,
  replies.RESPONSE_STREAM,
  replies.ANTHROPIC_STREAM,
];
const BODIES = [replies.CHAT_JSON, replies.RESPONSE_JSON, replies.ANTHROPIC_JSON];

const read = (pieces: readonly Uint8Array[], isStream: boolean): Usage => {
  const reader = createUsageReader(isStream, () => undefined);
  for (const piece of pieces) reader.push(piece, 0);
  return reader.end();
};
const cutAt = (octets: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] => {
  const at = [...new Set(cuts.map((cut) => cut % (octets.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => octets.subarray(from, at[index] ?? octets.length));
};
const replyAndCuts = fc.record({
  reply: fc.oneof(
    fc.constantFrom(...STREAMS).map((text) => ({ text, isStream: true })),
    fc.constantFrom(...BODIES).map((text) => ({ text, isStream: false })),
  ),
  lineEnd: fc.constantFrom("\n", "\r\n", "\r"),
  cuts: fc.array(fc.nat(), { maxLength: 40 }),
});

describe("reading a reply", () => {
  it("is the same for every cutting", () => {
    fc.assert(
      fc.property(replyAndCuts, ({ reply: { text, isStream }, lineEnd, cuts }) => {
        const octets = Buffer.from(isStream ? text.replaceAll("\n", lineEnd) : text);
        assert.deepEqual(read(cutAt(octets, cuts), isStream), read([octets], isStream));
      }),
    );
  });
  it("is the same octet by octet", () => {
    for (const text of [...STREAMS, ...BODIES]) {
      const octets = Buffer.from(text);
      const isStream = STREAMS.includes(text);
      const single = Array.from(octets, (octet) => Uint8Array.of(octet));
      assert.deepEqual(read(single, isStream), read([octets], isStream));
    }
  });
  it("never throws, whatever the engine sends, and reads the same", () => {
    const any = fc.uint8Array({ maxLength: 400 });
    const jsonLike = fc
      .array(fc.constantFrom("data:", "\n", "{", "}", "[", "]", '"', "\\", ":", ",", "usage", "5", "é"), {
        maxLength: 80,
      })
      .map((parts) => Buffer.from(parts.join("")));
    fc.assert(
      fc.property(
        fc.oneof(any, jsonLike),
        fc.boolean(),
        fc.array(fc.nat(), { maxLength: 8 }),
        (octets, isStream, cuts) => {
          assert.deepEqual(read(cutAt(octets, cuts), isStream), read([octets], isStream));
        },
      ),
    );
  });
});
