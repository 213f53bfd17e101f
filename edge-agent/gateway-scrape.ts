/** Asks the region's gateways for what they know exactly; whatever goes wrong is a named fault. */
import type { FetchText } from "./fetch-text.ts";
import { ReplicaPage } from "./gateway/replica-page.ts";
import type { GatewayAnswer } from "./gateway-overlay.ts";
import type { Fetched } from "./ports.ts";

export type GatewayTarget = {
  /** Origin of its metrics listener, without a trailing slash. */
  readonly url: string;
  /** `host:port`, as faults name it. */
  readonly source: string;
};

/** One for each gateway, in that order, all at once. Never rejects. */
export const createGatewayScrape =
  (targets: readonly GatewayTarget[], fetchText: FetchText) =>
  (signal: AbortSignal): Promise<readonly GatewayAnswer[]> =>
    Promise.all(
      targets.map(async ({ url, source }) => {
        const fetched = await fetchText(`${url}/replicas`, { accept: "application/json", bearer: null, signal });
        return answerOf(source, fetched);
      }),
    );

export const answerOf = (source: string, fetched: Fetched): GatewayAnswer => {
  const fault = (code: string): GatewayAnswer => ({ source, kind: "fault", code });
  if (fetched.kind === "failed") return fault(fetched.code);
  if (fetched.status !== 200) return fault(`http-${fetched.status}`);
  try {
    const parsed = ReplicaPage.safeParse(JSON.parse(fetched.text));
    return parsed.success ? { source, kind: "page", page: parsed.data } : fault("not-a-replica-page");
  } catch {
    return fault("not-json");
  }
};
