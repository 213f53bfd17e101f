/** An HTTP server that answers as the test says: whole, half, huge, by drops, or not at all. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { enginePayload, vllmPage } from "./vllm-page.ts";

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export type ScriptedEngine = AsyncDisposable & {
  readonly origin: string;
  /** `host:port`. */
  readonly address: string;
  /** By path; what a test does not set answers as a healthy vLLM. */
  readonly answers: Map<string, Answer>;
  readonly requests: { readonly path: string; readonly authorization: string | null }[];
};

export const whole =
  (text: string, status = 200): Answer =>
  (_, response) => {
    response.writeHead(status, { "content-type": "text/plain; version=0.0.4" });
    response.end(text);
  };

/** Announces all of it and breaks off in the middle. */
export const brokenOff =
  (text: string): Answer =>
  (_, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-length": Buffer.byteLength(text) });
    response.write(text.slice(0, text.length / 2), () => response.destroy());
  };

/** A character each 20 ms, without end. */
export const dripping =
  (text: string): Answer =>
  (_, response) => {
    let at = 0;
    response.writeHead(200, { "content-type": "text/plain" });
    const timer = setInterval(() => response.write(text[at++ % text.length]), 20);
    response.once("close", () => clearInterval(timer));
  };

/** Nothing at all. */
export const silence: Answer = () => {};

export const redirecting =
  (location: string): Answer =>
  (_, response) => {
    response.writeHead(307, { location });
    response.end();
  };

/** @param onSent hears how many octets the other side let through */
export const huge =
  (bytes: number, onSent: (bytes: number) => void): Answer =>
  (_, response) => {
    const chunk = Buffer.alloc(65_536, "a{} 1\n");
    let sent = 0;
    const more = (): void => {
      while (sent < bytes && !response.destroyed) {
        sent += chunk.length;
        if (!response.write(chunk)) return;
      }
      response.end();
    };
    response.writeHead(200, { "content-type": "text/plain" });
    response.on("drain", more);
    response.once("close", () => onSent(sent));
    more();
  };

export const startScriptedEngine = async (): Promise<ScriptedEngine> => {
  const answers = new Map<string, Answer>();
  const requests: { path: string; authorization: string | null }[] = [];
  const usual = new Map<string, Answer>([
    ["/metrics", whole(vllmPage())],
    ["/v1/models", whole(enginePayload("vllm-v1-models.json"))],
    ["/health", whole("")],
  ]);
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    requests.push({ path, authorization: request.headers.authorization ?? null });
    (answers.get(path) ?? usual.get(path) ?? whole("not here", 404))(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    address: `127.0.0.1:${port}`,
    answers,
    requests,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
