import assert from "node:assert/strict";
import { describe, it } from "node:test";
import OpenAI, { AuthenticationError, BadRequestError, NotFoundError } from "openai";
import { SIMULATED_ALIAS, SIMULATED_MODEL, startSimulator } from "#test/support/engine-simulators.ts";

const clientOf = (origin: string) => new OpenAI({ baseURL: `${origin}/v1`, apiKey: "any", maxRetries: 0 });
const words = (count: number, word = "word"): string => `${word} `.repeat(count);

describe("the OpenAI library against an engine simulator", () => {
  it("chats, and in the second turn finds the first one's tokens cached", async () => {
    await using simulator = await startSimulator();
    const openai = clientOf(simulator.origin);
    const system = { role: "system", content: "Answer briefly." } as const;
    const question = { role: "user", content: words(2_000) } as const;
    const first = await openai.chat.completions.create({ model: SIMULATED_ALIAS, messages: [system, question] });
    const answer = first.choices[0]?.message.content ?? "";
    assert.equal(first.model, SIMULATED_ALIAS);
    assert.equal(first.choices[0]?.finish_reason, "stop");
    assert.equal(first.usage?.prompt_tokens_details?.cached_tokens, 0);
    assert.equal(first.usage?.completion_tokens, answer.length / 4, "an output token is four bytes");
    const promptTokens = first.usage?.prompt_tokens ?? 0;
    assert.ok(promptTokens > 2_000 * 1.25 && promptTokens < 2_000 * 1.25 + 50, `${promptTokens}`);

    const second = await openai.chat.completions.create({
      model: SIMULATED_MODEL,
      messages: [system, question, { role: "assistant", content: answer }, { role: "user", content: "And then?" }],
    });
    const held = promptTokens + (first.usage?.completion_tokens ?? 0);
    const cached = second.usage?.prompt_tokens_details?.cached_tokens ?? 0;
    assert.ok(cached > held - 32 && cached <= held, `${cached} of ${held}`);
    assert.equal(cached % 16, 0);
  });

  it("streams the same words that it would say at once, and usage when asked", async () => {
    await using simulator = await startSimulator();
    const openai = clientOf(simulator.origin);
    const asked = {
      model: SIMULATED_MODEL,
      messages: [{ role: "user", content: "Tell me." }],
      max_tokens: 20,
    } as const;
    const whole = await openai.chat.completions.create({ ...asked, messages: [...asked.messages] });
    const stream = await openai.chat.completions.create({
      ...asked,
      messages: [...asked.messages],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    assert.equal(chunks[0]?.choices[0]?.delta.role, "assistant");
    const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
    assert.equal(text, whole.choices[0]?.message.content);
    assert.deepEqual(
      chunks.flatMap((chunk) => chunk.choices[0]?.finish_reason ?? []),
      ["length"],
    );
    const last = chunks.at(-1);
    assert.deepEqual(last?.choices, []);
    assert.equal(last?.usage?.completion_tokens, 20);
    assert.equal(last?.usage?.total_tokens, (last?.usage?.prompt_tokens ?? 0) + 20);
    assert.ok(chunks.slice(0, -1).every((chunk) => chunk.usage === null));
  });

  it("sends no usage chunk that nobody asked for", async () => {
    await using simulator = await startSimulator();
    const stream = await clientOf(simulator.origin).chat.completions.create({
      model: SIMULATED_MODEL,
      messages: [{ role: "user", content: "Tell me." }],
      max_completion_tokens: 3,
      stream: true,
    });
    for await (const chunk of stream) {
      assert.equal(chunk.choices.length, 1);
      assert.equal("usage" in chunk, false);
    }
  });

  it("completes text, whole and streamed", async () => {
    await using simulator = await startSimulator();
    const openai = clientOf(simulator.origin);
    const asked = { model: SIMULATED_MODEL, prompt: words(100), max_tokens: 8 };
    const whole = await openai.completions.create(asked);
    assert.equal(whole.object, "text_completion");
    assert.equal(whole.usage?.prompt_tokens, 125);
    const stream = await openai.completions.create({ ...asked, stream: true });
    let text = "";
    for await (const chunk of stream) text += chunk.choices[0]?.text ?? "";
    assert.equal(text, whole.choices[0]?.text);
    assert.equal(text.length, 32);
  });

  it("writes all of max_tokens when told to ignore the end", async () => {
    await using simulator = await startSimulator();
    const extra = { ignore_eos: true };
    const done = await clientOf(simulator.origin).completions.create({
      model: SIMULATED_MODEL,
      prompt: "Go on.",
      max_tokens: 300,
      ...extra,
    });
    assert.equal(done.usage?.completion_tokens, 300);
    assert.equal(done.choices[0]?.finish_reason, "length");
  });

  it("lists the model and its aliases as cards of one root", async () => {
    await using simulator = await startSimulator();
    const { data } = await clientOf(simulator.origin).models.list();
    assert.deepEqual(
      data.map((card) => [card.id, "root" in card ? card.root : null]),
      [
        [SIMULATED_MODEL, SIMULATED_MODEL],
        [SIMULATED_ALIAS, SIMULATED_MODEL],
      ],
    );
  });

  it("throws the library's own errors: an unknown model, a prompt longer than the context", async () => {
    await using simulator = await startSimulator({ contextLimitTokens: 1_000 });
    const openai = clientOf(simulator.origin);
    const ask = (model: string, content: string, max_tokens = 10) =>
      openai.chat.completions.create({ model, messages: [{ role: "user", content }], max_tokens });
    await assert.rejects(
      ask("gpt-unknown", "Hi"),
      (error) => error instanceof NotFoundError && error.param === "model",
    );
    await assert.rejects(
      ask(SIMULATED_MODEL, words(900)),
      (error) => error instanceof BadRequestError && error.message.includes("maximum context length is 1000 tokens"),
    );
    await assert.rejects(ask(SIMULATED_MODEL, "Hi", 995), BadRequestError);
  });

  it("goes on from a stored response by its id, at the engine that wrote it only", async () => {
    await using simulator = await startSimulator();
    await using another = await startSimulator();
    const openai = clientOf(simulator.origin);
    const first = await openai.responses.create({ model: SIMULATED_MODEL, input: words(2_000) });
    const goOn = { model: SIMULATED_MODEL, input: "And then?", previous_response_id: first.id };
    const second = await openai.responses.create(goOn);
    const held = (first.usage?.input_tokens ?? 0) + first.output_text.length / 4;
    const cached = second.usage?.input_tokens_details.cached_tokens ?? 0;
    assert.ok(cached > held - 32 && cached <= held, `${cached} of ${held}`);
    await assert.rejects(clientOf(another.origin).responses.create(goOn), NotFoundError);
    const unkept = await openai.responses.create({ model: SIMULATED_MODEL, input: "Hi", store: false });
    await assert.rejects(
      openai.responses.create({ ...goOn, previous_response_id: unkept.id }),
      (error) => error instanceof NotFoundError && error.param === "previous_response_id",
    );
  });

  it("streams a response as the library puts it together again", async () => {
    await using simulator = await startSimulator();
    const openai = clientOf(simulator.origin);
    const asked = { model: SIMULATED_MODEL, input: "Tell me.", max_output_tokens: 20 };
    const whole = await openai.responses.create(asked);
    const streamed = await openai.responses.stream(asked).finalResponse();
    assert.equal(streamed.output_text, whole.output_text);
    assert.equal(streamed.output_text.length, 80);
    assert.equal(streamed.incomplete_details?.reason, "max_output_tokens");
    assert.equal(streamed.usage?.output_tokens, 20);
  });

  it("wants the engine's key for what is under /v1, and for nothing else", async () => {
    await using simulator = await startSimulator({ apiKey: "engine-key" });
    await assert.rejects(async () => clientOf(simulator.origin).models.list(), AuthenticationError);
    const openai = new OpenAI({ baseURL: `${simulator.origin}/v1`, apiKey: "engine-key", maxRetries: 0 });
    assert.equal((await openai.models.list()).data.length, 2);
    assert.equal((await fetch(`${simulator.origin}/health`)).status, 200);
    assert.equal((await fetch(`${simulator.origin}/v1/models`, { method: "OPTIONS" })).status, 405);
  });
});
