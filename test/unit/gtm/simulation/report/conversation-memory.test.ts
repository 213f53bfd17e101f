import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createConversationMemory } from "#gtm/simulation/report/conversation-memory.ts";

describe("the memory of conversations", () => {
  it("knows what a conversation's turn before left, and whether one was counted", () => {
    const memory = createConversationMemory();
    assert.deepEqual(memory.see(1, 100, false), { contextTokens: 0, isCounted: false });
    assert.deepEqual(memory.see(1, 200, true), { contextTokens: 100, isCounted: false });
    assert.deepEqual(memory.see(1, 300, false), { contextTokens: 200, isCounted: true });
    assert.deepEqual(memory.see(1, 400, false), { contextTokens: 300, isCounted: true });
  });
  it("forgets the one that was silent for longest once there are too many", () => {
    const memory = createConversationMemory(2);
    memory.see(1, 100, true);
    memory.see(2, 100, true);
    memory.see(1, 200, true);
    memory.see(3, 100, true);
    assert.equal(memory.see(1, 0, true).contextTokens, 200);
    assert.equal(memory.see(2, 0, true).contextTokens, 0);
  });
});
