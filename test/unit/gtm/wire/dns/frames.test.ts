import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createFrames, type Frame } from "#gtm/wire/dns/frames.ts";
import { framed } from "#test/support/dns-client.ts";

const all = (chunks: readonly Buffer[], mostOctets = 1_024): readonly (string | Frame)[] => {
  const frames = createFrames(mostOctets);
  const got: (string | Frame)[] = [];
  for (const chunk of chunks) {
    frames.push(chunk);
    for (let frame = frames.next(); frame !== "incomplete"; frame = frames.next()) {
      got.push(typeof frame === "string" ? frame : Buffer.from(frame).toString());
      if (typeof frame === "string") return got;
    }
  }
  return got;
};

describe("messages in a stream", () => {
  const stream = Buffer.concat(["one", "two", "three"].map((text) => framed(Buffer.from(text))));
  it("are the same however the stream is cut", () => {
    for (let size = 1; size <= stream.length; size++) {
      const chunks = Array.from({ length: Math.ceil(stream.length / size) }, (_, i) =>
        stream.subarray(i * size, (i + 1) * size),
      );
      assert.deepEqual(all(chunks), ["one", "two", "three"], `in pieces of ${size}`);
    }
  });
  it("end with one of length 0, and with one beyond the most before it has come", () => {
    assert.deepEqual(all([Buffer.concat([stream.subarray(0, 5), Buffer.from([0, 0, 9, 9])])]), ["one", "empty"]);
    assert.deepEqual(all([Buffer.from([4, 1])]), ["too-long"]);
    assert.deepEqual(all([framed(Buffer.alloc(1_024, 0x61))]), ["a".repeat(1_024)]);
  });
});
