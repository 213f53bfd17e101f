import assert from "node:assert/strict";
import { describe, it } from "node:test";
import Anthropic, { AuthenticationError } from "@anthropic-ai/sdk";
import { SIMULATED_MODEL, startSimulator } from "#test/support/engine-simulators.ts";

const clientOf = (origin: string, apiKey = "any") => new Anthropic({ baseURL: origin, apiKey, maxRetries: 0 });
const words = (count: number): string => "word ".repeat(count);

describe("the Anthropic library against an engine simulator", () => {
  it("takes messages, and in the second turn input tokens leave out the first one's", async () => {
    await using simulator = await startSimulator();
    const anthropic = clientOf(simulator.origin);
    const asked = { model: SIMULATED_MODEL, max_tokens: 400, system: "Answer briefly." };
    const question = { role: "user", content: words(2_000) } as const;
    const first = await anthropic.messages.create({ ...asked, messages: [question] });
    const [block] = first.content;
    const answer = block?.type === "text" ? block.text : "";
    assert.equal(first.stop_reason, "end_turn");
    assert.equal(first.usage.cache_read_input_tokens, 0);
    assert.equal(first.usage.output_tokens, answer.length / 4, "an output token is four bytes");
    assert.ok(first.usage.input_tokens > 2_500 && first.usage.input_tokens < 2_550, `${first.usage.input_tokens}`);

    const second = await anthropic.messages.create({
      ...asked,
      messages: [question, { role: "assistant", content: answer }, { role: "user", content: "And then?" }],
    });
    const held = first.usage.input_tokens + first.usage.output_tokens;
    const cached = second.usage.cache_read_input_tokens ?? 0;
    assert.ok(cached > held - 32 && cached <= held, `${cached} of ${held}`);
    assert.ok(second.usage.input_tokens < 64, `${second.usage.input_tokens} were not cached`);
  });

  it("streams what it would say at once, with usage at both ends", async () => {
    await using simulator = await startSimulator();
    const anthropic = clientOf(simulator.origin);
    const asked = {
      model: SIMULATED_MODEL,
      max_tokens: 20,
      messages: [{ role: "user" as const, content: "Tell me." }],
    };
    const whole = await anthropic.messages.create(asked);
    const streamed = await anthropic.messages.stream(asked).finalMessage();
    assert.deepEqual(
      streamed.content.map((block) => (block.type === "text" ? block.text : "")),
      whole.content.map((block) => (block.type === "text" ? block.text : "")),
    );
    assert.equal(streamed.stop_reason, "max_tokens");
    assert.equal(streamed.usage.output_tokens, 20);
    assert.equal(streamed.usage.input_tokens + (streamed.usage.cache_read_input_tokens ?? 0), whole.usage.input_tokens);
  });

  it("is refused without the engine's key, and served with it", async () => {
    await using simulator = await startSimulator({ apiKey: "engine-key" });
    const asked = { model: SIMULATED_MODEL, max_tokens: 4, messages: [{ role: "user" as const, content: "Hi" }] };
    await assert.rejects(clientOf(simulator.origin, "another").messages.create(asked), AuthenticationError);
    assert.equal((await clientOf(simulator.origin, "engine-key").messages.create(asked)).usage.output_tokens, 4);
  });
});
