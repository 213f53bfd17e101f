/** An engine for tests of what passes through: it notes each request whole, and answers as the test says. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export type Heard = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
  readonly body: string;
};

export type Talk = (request: IncomingMessage, response: ServerResponse, body: string) => void | Promise<void>;

export type TalkingEngine = AsyncDisposable & {
  readonly origin: string;
  readonly port: number;
  readonly heard: readonly Heard[];
  /** How many answers the other side gave up before they ended. */
  readonly abandoned: () => number;
  /** Cuts every connection and takes no more. */
  readonly die: () => Promise<void>;
};

/** @param talk asked when the request's body is there */
export const startTalkingEngine = async (talk: Talk): Promise<TalkingEngine> => {
  const heard: Heard[] = [];
  const sockets = new Set<Socket>();
  let abandoned = 0;
  const server = createServer(async (request, response) => {
    response.on("close", () => {
      if (!response.writableFinished) abandoned += 1;
    });
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks).toString();
    const { method = "", url = "", headers, rawHeaders } = request;
    heard.push({ method, url, headers, rawHeaders, body });
    await talk(request, response, body);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    heard,
    abandoned: () => abandoned,
    die: close,
    [Symbol.asyncDispose]: close,
  };
};

/** A JSON answer. */
export const saying =
  (value: unknown, status = 200): Talk =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(value));
  };

/** Chat completion chunks, as vLLM sends them, ending with `[DONE]`. */
export const streamed =
  (words: readonly string[]): Talk =>
  (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    for (const word of words) response.write(chunkOf(word));
    response.end("data: [DONE]\n\n");
  };

export const chunkOf = (content: string): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
