/** The key that an engine asks for with `--api-key`: for what is under /v1 with vLLM, for more with others. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type Flavour, isOpenPath } from "./flavour.ts";

/** @returns whether the request may pass; preflights may, since browsers send no key with them */
export type Admits = (request: IncomingMessage) => boolean;

/** @param apiKey null: everybody may */
export const createAdmits = (apiKey: string | null, flavour: Flavour): Admits => {
  if (apiKey === null) return () => true;
  const wanted = digestOf(apiKey);
  return ({ url = "/", method, headers }) => {
    if (isOpenPath(flavour, url.split("?", 1)[0] ?? "/") || method === "OPTIONS") return true;
    return timingSafeEqual(digestOf(keyIn(headers)), wanted);
  };
};

/** OpenAI's clients send a bearer, Anthropic's a header of their own, or either. */
const keyIn = ({ authorization, "x-api-key": apiKey }: IncomingMessage["headers"]): string => {
  const [, bearer] = /^Bearer (.+)$/i.exec(authorization ?? "") ?? [];
  return bearer ?? (typeof apiKey === "string" ? apiKey : "");
};

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();
