/** Captured JSON told apart by its shape: which path of which engine answers like that. */

import { LOADS, SERVER_INFO } from "../engines/sglang-loads.ts";
import { ITERATIONS } from "../engines/trtllm-iterations.ts";
import { IS_SLEEPING } from "../engines/vllm-sleep.ts";

type Shape = { readonly path: string; readonly fits: (json: unknown) => boolean };

/** The first that fits; `/v1/models` is first, since every engine has it. */
const SHAPES: readonly Shape[] = [
  { path: "/v1/models", fits: (json) => Array.isArray(fieldOf(json, "data")) },
  { path: LOADS, fits: (json) => Array.isArray(fieldOf(json, "loads")) },
  { path: SERVER_INFO, fits: (json) => has(json, "max_total_num_tokens") || has(json, "internal_states") },
  { path: IS_SLEEPING, fits: (json) => has(json, "is_sleeping") && !has(json, "default_generation_settings") },
  { path: "/info", fits: (json) => has(json, "max_concurrent_requests") },
  { path: "/props", fits: (json) => has(json, "default_generation_settings") },
  { path: "/slots", fits: (json) => isListOf(json, "is_processing") },
  {
    path: "/api/ps",
    fits: (json) => isListOf(fieldOf(json, "models"), "size_vram") || isEmptyList(fieldOf(json, "models")),
  },
  { path: "/api/tags", fits: (json) => isListOf(fieldOf(json, "models"), "modified_at") },
  { path: ITERATIONS, fits: (json) => isListOf(json, "iter") || isEmptyList(json) },
];

/** @returns null where no engine that is read answers like that */
export const pathOf = (json: unknown): string | null => SHAPES.find(({ fits }) => fits(json))?.path ?? null;

const fieldOf = (json: unknown, field: string): unknown =>
  typeof json === "object" && json !== null ? (json as Record<string, unknown>)[field] : undefined;

const has = (json: unknown, field: string): boolean => fieldOf(json, field) !== undefined;

const isListOf = (list: unknown, field: string): boolean =>
  Array.isArray(list) && list.length > 0 && has(list[0], field);

const isEmptyList = (list: unknown): boolean => Array.isArray(list) && list.length === 0;
