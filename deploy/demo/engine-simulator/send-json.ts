/** A JSON answer. */
import type { ServerResponse } from "node:http";

/** Nothing happens if the client is gone. */
export const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  if (response.destroyed || response.headersSent) return;
  const text = JSON.stringify(body);
  response
    .writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
    .end(text);
};
