/** Replies of the four interfaces as engines send them, and what is to be read in them. */

const event = (data: object, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

const chunk = (delta: object, more: object = {}): string =>
  event({ id: "chatcmpl-1", object: "chat.completion.chunk", choices: [{ index: 0, delta }], ...more });

export const CHAT_USAGE = {
  prompt_tokens: 5_000,
  completion_tokens: 3,
  total_tokens: 5_003,
  prompt_tokens_details: { cached_tokens: 4_096 },
};

export const CHAT_JSON = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: 'He said "usage": {"prompt_tokens": 9} \\ é 🎈' } }],
  usage: CHAT_USAGE,
});

const CHAT_EVENTS = [
  chunk({ role: "assistant", content: "" }),
  chunk({ content: "Grüße" }),
  chunk({ content: " 🎈" }),
  chunk({ content: '"usage":{"prompt_tokens":1}' }),
];
export const CHAT_STREAM = [
  ": keep-alive\n\n",
  ...CHAT_EVENTS,
  event({ id: "chatcmpl-1", object: "chat.completion.chunk", choices: [], usage: CHAT_USAGE }),
  "data: [DONE]\n\n",
].join("");
/** Without `stream_options.include_usage`. */
export const CHAT_STREAM_SILENT = [...CHAT_EVENTS, "data: [DONE]\n\n"].join("");
export const TOOL_STREAM = [
  chunk({ role: "assistant", content: null }),
  chunk({ tool_calls: [{ index: 0, id: "call-1", function: { name: "look", arguments: "" } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: "{}" } }] }),
  event({ choices: [], usage: { prompt_tokens: 800, completion_tokens: 12 } }),
].join("");

export const LEGACY_STREAM = [
  event({ object: "text_completion", choices: [{ index: 0, text: "Once" }] }),
  event({ object: "text_completion", choices: [{ index: 0, text: " upon" }], usage: null }),
  event({ object: "text_completion", choices: [], usage: { prompt_tokens: 12, completion_tokens: 2 } }),
].join("");

const RESPONSE = {
  id: "resp_1",
  object: "response",
  error: null,
  store: true,
  output: [{ type: "message", id: "msg_1", content: [{ type: "output_text", text: "Hi" }] }],
  usage: {
    input_tokens: 700,
    input_tokens_details: { cached_tokens: 512 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 4 },
  },
};
export const RESPONSE_JSON = JSON.stringify(RESPONSE);
export const RESPONSE_JSON_NOT_STORED = JSON.stringify({ ...RESPONSE, store: false });
export const RESPONSE_STREAM = [
  event({ type: "response.created", response: { ...RESPONSE, usage: null, output: [] } }, "response.created"),
  event({ type: "response.output_text.delta", item_id: "msg_1", delta: "Hi" }, "response.output_text.delta"),
  event({ type: "response.completed", response: RESPONSE }, "response.completed"),
].join("");

const ANTHROPIC_USAGE = { input_tokens: 300, cache_read_input_tokens: 4_000, cache_creation_input_tokens: 200 };
export const ANTHROPIC_JSON = JSON.stringify({
  id: "msg_1",
  type: "message",
  content: [{ type: "text", text: "Hi" }],
  usage: { ...ANTHROPIC_USAGE, output_tokens: 20 },
});
export const ANTHROPIC_STREAM = [
  event(
    { type: "message_start", message: { id: "msg_1", usage: { ...ANTHROPIC_USAGE, output_tokens: 1 } } },
    "message_start",
  ),
  event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }, "content_block_start"),
  event({ type: "ping" }, "ping"),
  event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } }, "content_block_delta"),
  event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 20 } }, "message_delta"),
  event({ type: "message_stop" }, "message_stop"),
].join("");
