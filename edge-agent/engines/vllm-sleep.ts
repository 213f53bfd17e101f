/** Whether a vLLM sleeps: its gauge says so on every page since November 2025; before, a path of development mode may. */
import { labelOf, type Sample } from "../exposition-line.ts";
import type { EnginePayloads } from "./engine.ts";

/** Without the prefix (vllm-project/vllm#27867). */
export const SLEEP_STATE = "engine_sleep_state";

/** Only with VLLM_SERVER_DEV_MODE=1. */
export const IS_SLEEPING = "/is_sleeping";

/** One-hot over `awake` and the depths of sleep. @returns null where no state is said to hold */
export const isAsleepBy = (samples: readonly Sample[]): boolean | null => {
  const current = samples.filter(({ value }) => value === 1).map((sample) => labelOf(sample, "sleep_state"));
  return current.length === 0 ? null : current.some((state) => state !== "awake");
};

/** @returns null where it was not asked, or answered otherwise */
export const isAsleepIn = (further: EnginePayloads["further"]): boolean | null => {
  const answer = further.get(IS_SLEEPING);
  const json = answer?.kind === "json" ? answer.json : null;
  if (typeof json !== "object" || json === null || !("is_sleeping" in json)) return null;
  return typeof json.is_sleeping === "boolean" ? json.is_sleeping : null;
};

/** Where the page does not say it: asked without the page, a busy server would have more to do for it. */
export const sleepPaths = (
  further: EnginePayloads["further"],
  onAPage: (text: string) => boolean,
): readonly string[] => {
  const page = further.get("/metrics");
  const isWithoutGauge = page?.kind === "page" && !onAPage(SLEEP_STATE);
  const isWithoutPage = page?.kind === "unknown" && page.code === "http-404";
  return isWithoutGauge || isWithoutPage ? [IS_SLEEPING] : [];
};
