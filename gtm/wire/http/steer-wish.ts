/** What a client says that asks where its next turn goes: in a small JSON object, or in the query. */
import type { Arrival } from "./arrival.ts";
import { createBodyScan, type Scanned } from "./body-scan.ts";
import { memberNames } from "./member-paths.ts";

export type SteerWish = {
  readonly model: string | null;
  /** What the client calls its conversation, or the label that it was given. */
  readonly conversation: string | null;
  /** Of the whole prompt that is to come. */
  readonly promptTokens: number | null;
  readonly outputLimitTokens: number | null;
};

/** `fault`: a sentence for the client. */
export type SteerWishReading = { readonly wish: SteerWish } | { readonly fault: string };

const WANTED = memberNames(["model", "conversation", "prompt_tokens", "max_tokens"]);

export const createSteerScan = () => createBodyScan(WANTED);

/** Beside each pool's paths, such as `/v1/steer`. */
export const isSteering = ({ target, pools }: Arrival): boolean =>
  target.path.endsWith("/steer") && pools.some(({ prefix }) => target.path === `${prefix === "/" ? "" : prefix}/steer`);

/** As for every name of a conversation. */
const MOST_OCTETS = 256;

export const wishInBody = ({ isObject, values, tooLong }: Scanned): SteerWishReading => {
  if (!isObject) return { fault: 'Expected a JSON object, such as {"model":"…","conversation":"…"}.' };
  const [long] = tooLong;
  if (long !== undefined) return { fault: `Expected ${long} of at most ${MOST_OCTETS} octets.` };
  return wishOf((name) => values.get(name) ?? null);
};

export const wishInQuery = (query: string): SteerWishReading => {
  const parameters = new URLSearchParams(query);
  return wishOf((name) => {
    const text = parameters.get(name);
    return text !== null && name.endsWith("_tokens") && /^\d{1,9}$/.test(text) ? Number(text) : text;
  });
};

type Get = (name: string) => unknown;

const wishOf = (get: Get): SteerWishReading => {
  for (const name of ["model", "conversation"]) {
    const value = get(name);
    if (value !== null && !isName(value)) {
      return { fault: `Expected ${name} to be a string of 1 to ${MOST_OCTETS} octets.` };
    }
  }
  for (const name of ["prompt_tokens", "max_tokens"]) {
    const value = get(name);
    if (value !== null && !isCount(value)) return { fault: `Expected ${name} to be a whole number, 0 or more.` };
  }
  return {
    wish: {
      model: nameIn(get("model")),
      conversation: nameIn(get("conversation")),
      promptTokens: countIn(get("prompt_tokens")),
      outputLimitTokens: countIn(get("max_tokens")),
    },
  };
};

const isName = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && Buffer.byteLength(value) <= MOST_OCTETS;
const nameIn = (value: unknown): string | null => (isName(value) ? value : null);

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const countIn = (value: unknown): number | null => (isCount(value) ? value : null);
