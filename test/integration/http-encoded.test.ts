/** Bodies that are no plain JSON, sent by fetch: compressed in every way, bombs, and forms. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { MODEL } from "#test/support/builders.ts";
import { type RunningFrontDoor, startFrontDoor } from "#test/support/front-door.ts";
import { metricValue } from "#test/support/metric-value.ts";

const send = (
  front: RunningFrontDoor,
  path: string,
  body: string | Uint8Array<ArrayBuffer> | FormData,
  headers: Record<string, string> = {},
) => fetch(`${front.url}${path}`, { method: "POST", redirect: "manual", headers, body });
const unscanned = (front: RunningFrontDoor, why: string) =>
  metricValue(front.metrics, "gtm_http_bodies_unscanned_total", { why });
const words = (count: number): string =>
  Array.from({ length: count }, (_, at) => `word ${(at * 7_919) % 10_007}`).join(" ");

const JSON_TYPE = { "content-type": "application/json" };
const chat = JSON.stringify({ messages: [{ role: "user", content: words(40_000) }], max_tokens: 7, model: "llama" });

describe("a compressed chat of 400 KB", () => {
  const ways = [
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
  ] as const;
  for (const [encoding, compress] of ways) {
    it(`is read as if it were not: ${encoding}`, async () => {
      await using front = await startFrontDoor();
      const headers = { ...JSON_TYPE, "content-encoding": encoding };
      assert.equal((await send(front, "/v1/chat/completions", new Uint8Array(compress(chat)), headers)).status, 307);
      await send(front, "/v1/chat/completions", chat, JSON_TYPE);
      const [packed, plain] = front.entries.map(({ query }) => query);
      assert.deepEqual(
        [packed?.model, packed?.promptTokens, packed?.outputLimitTokens],
        [MODEL, Math.ceil(Buffer.byteLength(chat) / 4), 7],
      );
      assert.notEqual(packed?.conversationId, null);
      assert.equal(packed?.conversationId, plain?.conversationId);
    });
  }
});

describe("a body that is given up", () => {
  const cases: readonly { why: string; encoding: string; body: Buffer }[] = [
    { why: "bomb", encoding: "gzip", body: gzipSync(Buffer.alloc(64 * 1_048_576, " ")) },
    { why: "bomb", encoding: "br", body: brotliCompressSync(Buffer.alloc(64 * 1_048_576, " ")) },
    { why: "broken", encoding: "gzip", body: Buffer.from("no gzip at all") },
    { why: "broken", encoding: "zstd", body: zstdCompressSync(chat).subarray(0, 1_000) },
    { why: "encoding", encoding: "compress", body: Buffer.from("x") },
    { why: "encoding", encoding: "gzip, gzip", body: gzipSync(gzipSync(chat)) },
  ];
  for (const { why, encoding, body } of cases) {
    it(`is steered by its headers, and counted as ${why}: ${encoding}`, async () => {
      await using front = await startFrontDoor();
      const headers = { ...JSON_TYPE, "content-encoding": encoding, "x-gtm-model": "llama", "x-session-id": "s" };
      assert.equal((await send(front, "/v1/chat/completions", new Uint8Array(body), headers)).status, 307);
      const { query } = front.entries[0] ?? assert.fail("nothing was decided");
      assert.deepEqual([query.model, query.promptTokens], [MODEL, null]);
      assert.equal(query.conversationId, front.labels.conversationIdOf("default", "s"));
      assert.equal(await unscanned(front, why), 1);
    });
  }
});

describe("a form with a recording", () => {
  it("names model and conversation in its fields", async () => {
    await using front = await startFrontDoor();
    const form = new FormData();
    form.append("file", new Blob([Buffer.alloc(300_000, 7)]), "speech.wav");
    form.append("model", "llama");
    form.append("user", "ann");
    assert.equal((await send(front, "/v1/audio/transcriptions", form)).status, 307);
    const { query } = front.entries[0] ?? assert.fail("nothing was decided");
    assert.deepEqual([query.model, query.promptTokens], [MODEL, null]);
    assert.equal(query.conversationId, front.labels.conversationIdOf("default", "user\0ann"));
  });
  it("of another model is refused in the API's own words", async () => {
    await using front = await startFrontDoor();
    const form = new FormData();
    form.append("model", "whisper");
    form.append("file", new Blob(["x"]), "speech.wav");
    assert.equal((await send(front, "/v1/audio/transcriptions", form)).status, 404);
  });
});
