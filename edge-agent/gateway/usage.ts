/** What a reply says of itself while it passes: tokens, first content, the id of a stored response. It is neither kept nor changed. */
import { createJsonScan } from "./json-scan.ts";
import { createReplyFields, type TokenCounts } from "./reply-fields.ts";
import { createSseData } from "./sse-data.ts";

export type Usage = TokenCounts & {
  /** `completionTokens` is the number of content events: a stream without usage. */
  readonly isCompletionEstimated: boolean;
  /** When the first octet of the first event with content came; null: none did, or the reply comes in one piece. */
  readonly firstContentAtMs: number | null;
  /** Of a stored response of the Responses API; null: there is none, or it is not stored. */
  readonly responseId: string | null;
  /** The engine put an error into its reply. */
  readonly hasError: boolean;
};

export type UsageReader = {
  readonly push: (octets: Uint8Array, atMs: number) => void;
  /** Of a stored response, once what was pushed last may be all that its client waits for; null: not yet, or there is none. */
  readonly completed: () => string | null;
  /** @returns what was read, also of half a reply; the reader is used up */
  readonly end: () => Usage;
};

/**
 * @param isStream server-sent events; else one JSON body
 * @param onContent the first event with content is there, and began then: the prefill is over
 */
export const createUsageReader = (isStream: boolean, onContent: (beganAtMs: number) => void): UsageReader => {
  const fields = createReplyFields(isStream);
  let contentEvents = 0;
  let isContentEvent = false;
  let firstContentAtMs: number | null = null;

  const scan = createJsonScan((path, scalar) => {
    if (fields.take(path, scalar)) isContentEvent = true;
  });
  const endEvent = (beganAtMs: number): void => {
    scan.end();
    if (!isContentEvent) return;
    isContentEvent = false;
    contentEvents += 1;
    if (firstContentAtMs !== null) return;
    firstContentAtMs = beganAtMs;
    onContent(beganAtMs);
  };
  const sse = createSseData({ onData: scan.push, onEvent: endEvent });
  return {
    push: isStream ? sse.push : (octets) => scan.push(octets, 0, octets.length),
    // Usage comes with the end: in the last event, or in the body that nobody reads in part.
    completed: () => (fields.tokens().completionTokens === null ? null : fields.responseId()),
    end: () => {
      if (isStream) sse.end();
      else scan.end();
      const tokens = fields.tokens();
      const isEstimated = tokens.completionTokens === null && contentEvents > 0;
      return {
        ...tokens,
        completionTokens: isEstimated ? contentEvents : tokens.completionTokens,
        isCompletionEstimated: isEstimated,
        firstContentAtMs,
        responseId: fields.responseId(),
        hasError: fields.hasError(),
      };
    },
  };
};
