/** The event that ends a stream whose sender died, in the form that the clients of each API take for an error. */

/**
 * @param path of the request, without query: it says which API is spoken
 * @param message for people; nothing of the request
 * @returns a whole event
 */
export const failureEvent = (path: string, message: string): string => {
  // Anthropic, "Error events": https://docs.anthropic.com/en/api/messages-streaming
  if (/\/messages$/.test(path)) {
    return event("error", { type: "error", error: { type: "api_error", message } });
  }
  // OpenAI's Responses API: an event of its own; its clients look at the event's name.
  if (/\/responses$/.test(path)) {
    return event("error", { type: "error", code: "server_error", message, param: null, sequence_number: null });
  }
  // Chat and text completions: a chunk with `error`, as vLLM sends it; `[DONE]` ends the stream for those who wait for it.
  return `${event(null, { error: { message, type: "server_error", param: null, code: "stream_broken" } })}data: [DONE]\n\n`;
};

const event = (name: string | null, data: unknown): string =>
  `${name === null ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
