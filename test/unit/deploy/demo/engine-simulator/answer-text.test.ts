import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AnswerWish, answerTo } from "#deploy/demo/engine-simulator/answer-text.ts";

const answer = (wish: Partial<AnswerWish> = {}) =>
  answerTo({ fingerprint: 77, seed: 1, maxTokens: null, isEosIgnored: false, roomTokens: 10_000, ...wish });

describe("a simulated answer", () => {
  it("is the same for the same prompt and seed, four bytes a token, 32 to 256 tokens long", () => {
    for (let fingerprint = 0; fingerprint < 200; fingerprint++) {
      const { tokens, text, finishReason } = answer({ fingerprint });
      assert.ok(tokens >= 32 && tokens <= 256, `${tokens}`);
      assert.equal(text.length, 4 * tokens);
      assert.equal(finishReason, "stop");
    }
    assert.deepEqual(answer(), answer());
    assert.notEqual(answer().text, answer({ seed: 2 }).text);
  });

  it("is cut at max_tokens, which are the first words of the whole", () => {
    const cut = answer({ maxTokens: 10 });
    assert.deepEqual([cut.tokens, cut.finishReason], [10, "length"]);
    assert.ok(answer().text.startsWith(cut.text));
    assert.equal(answer({ maxTokens: 5_000 }).finishReason, "stop");
  });

  it("is as long as max_tokens when the end is ignored, and no longer than the context leaves room for", () => {
    assert.deepEqual(
      [answer({ maxTokens: 500, isEosIgnored: true }).tokens, answer({ roomTokens: 7 }).tokens],
      [500, 7],
    );
    assert.equal(answer({ roomTokens: 7 }).finishReason, "length");
  });
});
