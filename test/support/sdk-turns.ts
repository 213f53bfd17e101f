/** A chat as the real SDKs hold it, streamed: each turn repeats what was said, and tells which engine answered from how much cache. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { prose } from "#deploy/demo/prose.ts";
import { SIMULATED_ALIAS } from "./engine-simulators.ts";

export type SdkTurn = {
  /** By the engine's own word. */
  readonly region: string;
  readonly cachedTokens: number;
  readonly promptTokens: number;
  readonly text: string;
  /** From the call to the first words. */
  readonly ttftMs: number;
};
export type Message = { readonly role: "user" | "assistant"; readonly content: string };

/** Where a turn goes, and what goes along. */
export type Aim = { readonly baseUrl: string; readonly headers: Readonly<Record<string, string>> };

export type SdkWish = { readonly apiKey: string; readonly fetch: typeof fetch; readonly maxRetries?: number };

export type Sdk = (aim: Aim, messages: readonly Message[]) => Promise<SdkTurn>;

const ANSWER_TOKENS = 8;

const regionIn = (response: { readonly headers: { readonly get: (name: string) => string | null } }): string =>
  response.headers.get("x-sim-region") ?? "no engine";

const sinceNow = () => {
  const startedAtMs = performance.now();
  let tookMs: number | null = null;
  return {
    came: () => {
      tookMs ??= performance.now() - startedAtMs;
    },
    /** Infinity: they never came. */
    afterMs: () => tookMs ?? Number.POSITIVE_INFINITY,
  };
};

export const openaiSdk =
  ({ maxRetries = 0, ...wish }: SdkWish): Sdk =>
  async ({ baseUrl, headers }, messages) => {
    const firstWords = sinceNow();
    const client = new OpenAI({ ...wish, maxRetries, baseURL: baseUrl, defaultHeaders: headers });
    const { data, response } = await client.chat.completions
      .create({
        ...{ model: SIMULATED_ALIAS, messages: [...messages], stream: true, max_tokens: ANSWER_TOKENS },
        stream_options: { include_usage: true },
      })
      .withResponse();
    let [text, promptTokens, cachedTokens] = ["", 0, 0];
    for await (const { choices, usage } of data) {
      text += choices[0]?.delta.content ?? "";
      if (text !== "") firstWords.came();
      promptTokens = usage?.prompt_tokens ?? promptTokens;
      cachedTokens = usage?.prompt_tokens_details?.cached_tokens ?? cachedTokens;
    }
    return { region: regionIn(response), text, promptTokens, cachedTokens, ttftMs: firstWords.afterMs() };
  };

/** It adds `/v1` itself. */
export const anthropicSdk =
  ({ maxRetries = 0, ...wish }: SdkWish): Sdk =>
  async ({ baseUrl, headers }, messages) => {
    const firstWords = sinceNow();
    const baseURL = baseUrl.replace(/\/v1$/, "");
    const client = new Anthropic({ ...wish, maxRetries, baseURL, defaultHeaders: headers });
    const { data, response } = await client.messages
      .create({ model: SIMULATED_ALIAS, messages: [...messages], stream: true, max_tokens: ANSWER_TOKENS })
      .withResponse();
    let [text, promptTokens, cachedTokens] = ["", 0, 0];
    for await (const event of data) {
      if (event.type === "message_start") {
        const { input_tokens, cache_read_input_tokens } = event.message.usage;
        cachedTokens = cache_read_input_tokens ?? 0;
        promptTokens = input_tokens + cachedTokens;
      } else if (event.type === "content_block_delta" && event.delta.type === "text_delta") {
        text += event.delta.text;
        firstWords.came();
      }
    }
    return { region: regionIn(response), text, promptTokens, cachedTokens, ttftMs: firstWords.afterMs() };
  };

export type Chat = {
  /** The next turn: so many new tokens, and all that was said before. */
  readonly say: (aim: Aim, newTokens: number) => Promise<SdkTurn>;
};

/** @param name its words are its own */
export const startChat = (sdk: Sdk, name: string): Chat => {
  const messages: Message[] = [];
  return {
    say: async (aim, newTokens) => {
      const question: Message = { role: "user", content: prose(newTokens, `${name}-${messages.length}`) };
      const turn = await sdk(aim, [...messages, question]);
      messages.push(question, { role: "assistant", content: turn.text });
      return turn;
    },
  };
};
