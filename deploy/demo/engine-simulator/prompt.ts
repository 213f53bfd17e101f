/** From the messages of a request to the tokens and blocks that an engine would see. */
import { BLOCK_TOKENS, chainHash, ROOT_HASH } from "#gtm/simulation/serving/block-hash.ts";

/** What the GTM assumes too, since no tokenizer fits all models. */
export const BYTES_PER_TOKEN = 4;

export type Message = {
  readonly role: string;
  /** Text, or parts of which some are text. */
  readonly content: unknown;
};

/** The chat template: role markers around each message. */
export const promptOfMessages = (messages: readonly Message[]): string =>
  messages.map(({ role, content }) => `${open(role)}${textOf(content)}${CLOSE}`).join("");

/** What the model goes on from. */
export const openAnswer = (messages: string): string => `${messages}${open("assistant")}`;

/** The prompt with its answer, as the next turn repeats it. */
export const closeAnswer = (prompt: string, answer: string): string => `${prompt}${answer}${CLOSE}`;

const open = (role: string): string => `<|im_start|>${role}\n`;
const CLOSE = "<|im_end|>\n";

const textOf = (content: unknown): string => {
  if (typeof content === "string") return content;
  if (content === null || content === undefined) return "";
  return Array.isArray(content) ? content.map(partOf).join("") : JSON.stringify(content);
};

const partOf = (part: unknown): string =>
  typeof part === "object" && part !== null && "text" in part && typeof part.text === "string"
    ? part.text
    : JSON.stringify(part);

export type Tokens = { readonly count: number; readonly bytes: Uint8Array };

const encoder = new TextEncoder();

export const tokensOf = (text: string): Tokens => {
  const bytes = encoder.encode(text);
  return { count: Math.max(1, Math.ceil(bytes.length / BYTES_PER_TOKEN)), bytes };
};

/** Hashes of the full blocks of prompt and answer, and one of the prompt as a whole. */
export const blocksOf = (prompt: Tokens, answerText: string): readonly number[] =>
  hashesOf(wordsOf(prompt.bytes, encoder.encode(answerText)));

/** Says the same of the same prompt, and of hardly any other. */
export const fingerprintOf = (prompt: Tokens): number => {
  const words = wordsOf(prompt.bytes, new Uint8Array(0));
  const last = hashesOf(words).at(-1) ?? ROOT_HASH;
  return chainHash(last, words, words.length - (words.length % BLOCK_TOKENS), words.length);
};

const hashesOf = (words: Uint32Array): number[] => {
  const hashes: number[] = [];
  let hash = ROOT_HASH;
  for (let at = 0; at + BLOCK_TOKENS <= words.length; at += BLOCK_TOKENS) {
    hash = chainHash(hash, words, at, at + BLOCK_TOKENS);
    hashes.push(hash);
  }
  return hashes;
};

/** One 32-bit word a token; of a token that is not full the rest is 0. */
const wordsOf = (head: Uint8Array, tail: Uint8Array): Uint32Array => {
  const words = new Uint32Array(Math.ceil((head.length + tail.length) / BYTES_PER_TOKEN));
  const bytes = new Uint8Array(words.buffer);
  bytes.set(head);
  bytes.set(tail, head.length);
  return words;
};
