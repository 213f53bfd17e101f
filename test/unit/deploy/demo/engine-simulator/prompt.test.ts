import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  blocksOf,
  fingerprintOf,
  type Message,
  openAnswer,
  promptOfMessages,
  tokensOf,
} from "#deploy/demo/engine-simulator/prompt.ts";

const user = (content: unknown): Message => ({ role: "user", content });
const assistant = (content: string): Message => ({ role: "assistant", content });
const sharedBlocks = (a: readonly number[], b: readonly number[]): number => {
  const differs = a.findIndex((hash, at) => hash !== b[at]);
  return differs === -1 ? a.length : differs;
};

const promptOfChat = (messages: readonly Message[]): string => openAnswer(promptOfMessages(messages));

describe("a prompt as the simulated engine sees it", () => {
  it("counts a token for each four bytes of UTF-8, role markers included", () => {
    assert.equal(promptOfChat([user("Hi")]), "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
    assert.equal(tokensOf("four").count, 1);
    assert.equal(tokensOf("fours").count, 2);
    assert.equal(tokensOf("äöü").count, 2);
    assert.equal(tokensOf("").count, 1);
  });

  it("takes text parts for text and anything else as it is written", () => {
    assert.equal(promptOfChat([user([{ type: "text", text: "Hi" }])]), promptOfChat([user("Hi")]));
    assert.match(promptOfChat([user([{ type: "image_url", image_url: { url: "x" } }])]), /"image_url":\{"url":"x"\}/);
    assert.equal(promptOfChat([user(null)]), promptOfChat([user("")]));
  });

  it("goes on, in the next turn, where prompt and answer ended: all their full blocks come again", () => {
    const question = user("A question of some length. ".repeat(40));
    const answer = "And an answer to it. ".repeat(20);
    const first = tokensOf(promptOfChat([question]));
    const blocks = blocksOf(first, answer);
    const second = blocksOf(tokensOf(promptOfChat([question, assistant(answer), user("More?")])), "");
    assert.equal(blocks.length, Math.floor((first.bytes.length + answer.length) / 64));
    assert.equal(sharedBlocks(blocks, second), blocks.length);
  });

  it("shares with another chat exactly the blocks of their common beginning", () => {
    const system = { role: "system", content: "x".repeat(1_000) };
    const [one, two] = ["Apples?", "Pears?"].map((text) =>
      blocksOf(tokensOf(promptOfChat([system, user(text.repeat(50))])), ""),
    );
    const common = "<|im_start|>system\n".length + 1_000 + "<|im_end|>\n<|im_start|>user\n".length;
    assert.equal(sharedBlocks(one ?? [], two ?? []), Math.floor(common / 64));
  });

  it("has a fingerprint that also its last bytes decide", () => {
    const prints = ["a", "b", "ab", `${"x".repeat(64)}`, `${"x".repeat(64)}y`].map((text) =>
      fingerprintOf(tokensOf(text)),
    );
    assert.equal(new Set(prints).size, prints.length);
    assert.equal(fingerprintOf(tokensOf("ab")), prints[2]);
  });
});
