/** A request's body, read to its end and parsed. */
import type { IncomingMessage } from "node:http";
import { type ApiError, apiError } from "./openai-error.ts";

const LARGEST_BODY_BYTES = 64 * 1_048_576;

export type JsonBody = { readonly kind: "json"; readonly value: unknown } | ({ readonly kind: "error" } & ApiError);

/**
 * What is too large is read to its end nevertheless, so that the client gets the answer and not a reset connection.
 *
 * @throws what the connection failed with
 */
export const readJson = async (request: IncomingMessage): Promise<JsonBody> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= LARGEST_BODY_BYTES) chunks.push(chunk);
  }
  if (size > LARGEST_BODY_BYTES) {
    return { kind: "error", ...apiError(413, `a body has at most ${LARGEST_BODY_BYTES} bytes, this one has ${size}`) };
  }
  try {
    return { kind: "json", value: JSON.parse(Buffer.concat(chunks).toString("utf8")) };
  } catch {
    return { kind: "error", ...apiError(400, "the body is not valid JSON") };
  }
};
