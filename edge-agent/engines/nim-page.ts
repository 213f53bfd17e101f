/** Where NIM has its metrics page, also one that passes on the names of the engine in it. */
import type { EnginePayloads } from "./engine.ts";

export const NIM_PAGE = "/v1/metrics";

/** Whether the page there has names of this engine. */
export const tellsAtNim =
  (recognises: (names: readonly string[]) => boolean) =>
  (further: EnginePayloads["further"]): boolean => {
    const answer = further.get(NIM_PAGE);
    return answer?.kind === "page" && recognises([...answer.page.samples.keys()]);
  };
