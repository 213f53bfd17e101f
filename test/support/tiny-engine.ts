/** A model server of three lines, that remembers what arrived: for what becomes of a request on its way. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export type Arrived = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

export type TinyEngine = AsyncDisposable & {
  readonly origin: string;
  /** Every request so far, in order. */
  readonly arrived: readonly Arrived[];
};

export type TinyEngineWish = {
  /** Whether it answers 401 to a request without Authorization, as engines with a key do. */
  readonly needsKey?: boolean;
};

const COMPLETION = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 0,
  model: "llama-70b",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello.", refusal: null } }],
});
const MESSAGE = JSON.stringify({
  ...{ id: "msg_1", type: "message", role: "assistant", model: "llama-70b" },
  ...{ content: [{ type: "text", text: "Hello." }], stop_reason: "end_turn", stop_sequence: null },
  usage: { input_tokens: 1, output_tokens: 1 },
});
const NO_KEY = JSON.stringify({ error: { message: "No key.", type: "auth", param: null, code: "no_key" } });

export const startTinyEngine = async ({ needsKey = false }: TinyEngineWish = {}): Promise<TinyEngine> => {
  const arrived: Arrived[] = [];
  const server = createServer((incoming, outgoing) => {
    void text(incoming).then((body) => {
      const { method = "", url = "", headers } = incoming;
      arrived.push({ method, url, headers, body });
      const isRefused = needsKey && headers.authorization === undefined;
      outgoing.writeHead(isRefused ? 401 : 200, { "Content-Type": "application/json" });
      outgoing.end(isRefused ? NO_KEY : url.startsWith("/v1/messages") ? MESSAGE : COMPLETION);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    arrived,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
};
