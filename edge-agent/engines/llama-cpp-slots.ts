/** What llama.cpp says of its slots as JSON: how many tokens they can hold (`/props`), and how many they do (`/slots`). */
import type { Further } from "./engine.ts";
import { fieldOf, numberIn, textIn } from "./json.ts";

export type Props = {
  readonly isRouter: boolean;
  /** null: not known, as in versions that cannot sleep. */
  readonly isSleeping: boolean | null;
  /** What one conversation may have. */
  readonly contextLimitTokens: number | null;
  readonly capacityTokens: number | null;
  readonly name: string | null;
};

/** @param args the model's own command line, as a router tells it */
export const propsIn = (props: unknown, args: readonly unknown[]): Props => {
  const slots = numberIn(props, "total_slots");
  const perSlot = numberIn(fieldOf(props, "default_generation_settings"), "n_ctx");
  // With one cache for all slots each of them may fill it, and says so.
  const isUnified = fieldOf(props, "kv_unified") === true || args.includes("--kv-unified") || args.includes("-kvu");
  const isSleeping = fieldOf(props, "is_sleeping");
  const path = textIn(props, "model_path");
  return {
    isRouter: textIn(props, "role") === "router",
    isSleeping: typeof isSleeping === "boolean" ? isSleeping : null,
    contextLimitTokens: Number.isSafeInteger(perSlot) && perSlot !== 0 ? perSlot : null,
    capacityTokens:
      slots === null || perSlot === null || !(slots * perSlot > 0) ? null : isUnified ? perSlot : slots * perSlot,
    name: textIn(props, "model_alias") ?? path,
  };
};

export type Slots = {
  readonly processing: number;
  /** Kept contexts of idle slots among them; null: one slot's numbers are none. */
  readonly usedTokens: number | null;
};

/** The texts in it are prompts: nothing but numbers is looked at. @returns null where it is no list of slots */
export const slotsIn = (answer: Further | undefined): Slots | null => {
  if (answer?.kind !== "json" || !Array.isArray(answer.json) || answer.json.length === 0) return null;
  const slots = answer.json as readonly unknown[];
  const used = slots.map(tokensIn);
  const known = used.filter((tokens) => tokens !== null);
  return {
    processing: slots.filter((slot) => fieldOf(slot, "is_processing") === true).length,
    usedTokens: known.length < used.length ? null : known.reduce((sum, tokens) => sum + tokens, 0),
  };
};

/**
 * A slot that never had a request says nothing and holds nothing. Newer versions count what was generated under
 * `n_prompt_tokens`, too, older ones do not: the parts show it.
 */
const tokensIn = (slot: unknown): number | null => {
  if (fieldOf(slot, "n_prompt_tokens") === undefined) return fieldOf(slot, "is_processing") === true ? null : 0;
  const prompt = numberIn(slot, "n_prompt_tokens");
  if (prompt === null) return null;
  const next = fieldOf(slot, "next_token");
  // An object before it was a list.
  const decoded = numberIn(Array.isArray(next) ? next[0] : next, "n_decoded") ?? 0;
  const cached = numberIn(slot, "n_prompt_tokens_cache");
  const processed = numberIn(slot, "n_prompt_tokens_processed");
  if (cached === null || processed === null) return prompt + decoded;
  return Math.max(prompt, cached + processed + decoded);
};
