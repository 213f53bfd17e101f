/** Asks the region's gateways for what they know exactly; whatever goes wrong is a named fault. */
import type { FetchText } from "./fetch-text.ts";
import { ReplicaPage } from "./gateway/replica-page.ts";
import type { GatewayAnswer } from "./gateway-overlay.ts";
import { createPolls, type PollsBy } from "./polls.ts";
import type { Fetched } from "./ports.ts";

export type GatewayTarget = {
  /** Origin of its metrics listener, without a trailing slash. */
  readonly url: string;
  /** `host:port`, as faults name it. */
  readonly source: string;
};

/** What each gateway said last, in that order; one that is late is not waited for. Never rejects. */
export const createGatewayScrape = (targets: readonly GatewayTarget[], fetchText: FetchText, by: PollsBy) => {
  const polls = createPolls<GatewayAnswer>(by);
  const last = new Map<string, GatewayAnswer>();
  const wanted = targets.map(({ url, source }) => ({
    key: source,
    ask: async (signal: AbortSignal): Promise<GatewayAnswer> =>
      answerOf(source, await fetchText(`${url}/replicas`, { accept: "application/json", bearer: null, signal })),
    isAnswer: ({ kind }: GatewayAnswer) => kind === "page",
  }));
  return async (signal: AbortSignal): Promise<readonly GatewayAnswer[]> => {
    for (const [source, answer] of await polls.round(wanted, signal)) last.set(source, answer);
    // Who has never answered is out of time.
    return targets.map(({ source }) => last.get(source) ?? { source, kind: "fault", code: "timed-out" });
  };
};

export const answerOf = (source: string, fetched: Fetched): GatewayAnswer => {
  const fault = (code: string): GatewayAnswer => ({ source, kind: "fault", code });
  if (fetched.kind === "failed") return fault(fetched.code);
  if (fetched.status !== 200) return fault(`http-${fetched.status}`);
  try {
    const parsed = ReplicaPage.safeParse(JSON.parse(fetched.octets.toString()));
    return parsed.success ? { source, kind: "page", page: parsed.data } : fault("not-a-replica-page");
  } catch {
    return fault("not-json");
  }
};
