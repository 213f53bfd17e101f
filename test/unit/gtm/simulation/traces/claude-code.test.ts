/** Claude Code's sessions: shared prompts, think times, sub-agents, faults. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readClaudeCode } from "#gtm/simulation/traces/claude-code.ts";

const read = (...sessions: readonly object[]) =>
  readClaudeCode({ name: "agents.jsonl", lines: sessions.map((session) => JSON.stringify(session)) });

/** Tools and system prompt make two blocks of 64 tokens. */
const SESSION = {
  ...{ id: "one", tool: 100, sys: 40 },
  req: [
    { t: 0, in: 200, out: 10, think: 0, api: 2, h: [1, 4] },
    { t: 2, in: 130, out: 5, think: 0, api: 1, sub: 1, h: [50, 3] },
    { t: 6, in: 150, out: 5, think: 3, api: 1, sub: 1, h: [50, 3] },
    { t: 10, in: 300, out: 10, think: 8, api: 2, h: [1, 5] },
    { t: 20, in: 250, out: 0, think: 6, h: [1, 1, 90, 3] },
  ],
};

describe("Claude Code's sessions", () => {
  it("share tools and system prompt with all sessions of the same pair of sizes, where they begin as their session does", () => {
    const { clients } = read(SESSION, { ...SESSION, tool: 101 }, SESSION);
    const firsts = clients.map(({ turns }) => turns.map(({ blocks }) => blocks));
    assert.deepEqual(firsts[0], [
      [-100_000, 2, 3, 2],
      [50, 3],
      [50, 3],
      [-100_000, 2, 3, 3],
      [-100_000, 1, 90, 3],
    ]);
    assert.deepEqual(firsts[1]?.[0], [-200_000, 2, 3, 2]);
    assert.deepEqual(firsts[2], firsts[0]);
  });

  it("wait as long as the client thought; where another agent spoke in between, since that one was answered", () => {
    const { clients, loop } = read(SESSION);
    assert.equal(loop, "closed");
    assert.deepEqual(
      clients[0]?.turns.map(({ afterMs }) => afterMs),
      [0, 0, 3_000, 3_000, 6_000],
    );
  });

  it("tell sub-agents apart by what they begin with", () => {
    const other = { t: 12, in: 64, out: 1, think: 0, sub: 1, h: [70, 1] };
    const { clients } = read({ ...SESSION, req: [...SESSION.req, other] });
    assert.deepEqual(
      clients[0]?.turns.map(({ thread }) => thread),
      [0, 1, 1, 0, 0, 2],
    );
  });

  it("are refused with the place of the request", () => {
    const broken = { ...SESSION, req: [SESSION.req[0], { t: 1, in: 64, out: 1, think: -1, h: [1, 1] }] };
    assert.throws(() => read(SESSION, broken), {
      code: "GTM_TRACE_INVALID",
      message: /agents\.jsonl \(request 2 of its line\):2: expected "think" as a number of 0 or more, found -1/,
    });
    assert.throws(() => read({ tool: 1, sys: 1, req: [] }), /agents\.jsonl:1: expected "req" as an array/);
  });
});
