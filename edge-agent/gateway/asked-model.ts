/** Which model a body asks for, where neither ticket nor header says: the only word of a body that the gateway reads. */
import { ModelId } from "#shared/ids.ts";
import { createJsonScan } from "./json-scan.ts";

/** Clients put the model first or behind the messages; what is further on is not looked for. */
const MOST_OCTETS = 1_048_576;
const STEP_OCTETS = 4_096;

/** @param begun the body's beginning, or all of it @returns null: none is named there, or it is no JSON */
export const modelAsked = (begun: Buffer | null, contentType: string | undefined): ModelId | null => {
  if (begun === null || (contentType !== undefined && !/\bjson\b/i.test(contentType))) return null;
  let found: string | null = null;
  const scan = createJsonScan((path, { kind, text, isWhole }) => {
    if (path === "model" && kind === "string" && isWhole) found ??= text;
  });
  const end = Math.min(begun.length, MOST_OCTETS);
  for (let at = 0; at < end && found === null; at += STEP_OCTETS) scan.push(begun, at, Math.min(end, at + STEP_OCTETS));
  return ModelId.safeParse(unescaped(found)).data ?? null;
};

/** A name with escapes is rare, and is read as JSON says. */
const unescaped = (text: string | null): string | null => {
  if (text === null || !text.includes("\\")) return text;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return null;
  }
};
