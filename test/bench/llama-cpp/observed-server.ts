/** The pages of llama.cpp's server about an engine that is bound into this process: the binding has no server, so these are ours, in its words. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Counted } from "./bound-engine.ts";

export const MODEL = "random-2m";

export const startObservedServer = async (counted: Counted, contextTokens: number) => {
  const page = (): string =>
    Object.entries({
      prompt_tokens_total: counted.computedTokens,
      prompt_tokens_cached_total: counted.cachedTokens,
      prompt_seconds_total: counted.prefillSeconds,
      tokens_predicted_total: counted.outputTokens,
      tokens_predicted_seconds_total: 0,
      requests_processing: 0,
      requests_deferred: 0,
    })
      .map(([name, value]) => `llamacpp:${name} ${value}\n`)
      .join("");
  const answers: Readonly<Record<string, () => unknown>> = {
    "/health": () => ({ status: "ok" }),
    "/v1/models": () => ({ object: "list", data: [{ id: MODEL, object: "model", owned_by: "llamacpp" }] }),
    "/props": () => ({ total_slots: 1, default_generation_settings: { n_ctx: contextTokens }, model_alias: MODEL }),
    "/slots": () => [{ id: 0, n_ctx: contextTokens, is_processing: false, n_prompt_tokens: counted.heldTokens }],
  };
  const server = createServer(({ url = "/" }, response) => {
    const json = answers[url];
    if (url === "/metrics") response.end(page());
    else if (json !== undefined) response.end(JSON.stringify(json()));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
