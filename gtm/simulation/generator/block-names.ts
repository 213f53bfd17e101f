/** Names of blocks that nobody computed from content: the same for the same text at the same place, else different. */

const TWO_32 = 0x1_0000_0000;

/**
 * @param text whose text it is: a conversation, a shared prompt; an integer of 0 or more
 * @param at which block of it, from 0
 * @returns an integer, 1 to 2⁵³ − 1, well mixed in its low bits
 */
export const blockName = (text: number, at: number): number => {
  const low = mixed(Math.imul(text | 0, 0x9e3779b1) ^ Math.imul(at, 0x85ebca6b) ^ Math.floor(text / TWO_32));
  const high = mixed(low ^ Math.imul(at + 0x7f4a7c15, 0xc2b2ae35) ^ text);
  return (high >>> 11) * TWO_32 + (low >>> 0) || 1;
};

/** murmur3's finaliser. */
const mixed = (value: number): number => {
  let bits = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
};

/** Blocks `blocks.length` up to the last full one within `tokens` tokens are of this text. */
export const extendBlocks = (blocks: number[], text: number, tokens: number, blockTokens: number): void => {
  const full = Math.floor(tokens / blockTokens);
  for (let at = blocks.length; at < full; at++) blocks.push(blockName(text, at));
};

/** Texts below this are shared prompts, those from it on conversations. */
const FIRST_CONVERSATION = 2 ** 20;

export const textOfShared = (prompt: number): number => prompt;
export const textOfConversation = (conversation: number): number => FIRST_CONVERSATION + conversation;
