/** One probe by HTTP: any 2xx is good; redirects are not followed, and the body is thrown away. */
import { isIP } from "node:net";
import { Agent } from "undici";

export type ProbeAddress = {
  readonly url: string;
  /** What the region calls itself, for the certificate and the Host header where `url` names an address; null: as `url` says. */
  readonly host: string | null;
  readonly timeoutMs: number;
};

export type ProbeOutcome =
  | { readonly kind: "good" }
  /**
   * `detail` is for people: "503", "timed out after 800 ms", the error's words. `late`: this process was not there when the
   * time was up, so that an answer may lie unread; it says nothing of the region.
   */
  | { readonly kind: "status" | "timeout" | "error" | "late"; readonly detail: string };

export type ProbeRequest = {
  /** Never rejects, and settles within the address's timeout. */
  readonly request: (address: ProbeAddress) => Promise<ProbeOutcome>;
  /** Ends what is still being asked. */
  readonly close: () => Promise<void>;
};

/** @param tookMs until this process noticed */
export const timedOut = (timeoutMs: number, tookMs: number): ProbeOutcome =>
  tookMs > timeoutMs * LATE_FACTOR + LATE_MS
    ? { kind: "late", detail: `${Math.round(tookMs - timeoutMs)} ms late to look for an answer within ${timeoutMs} ms` }
    : { kind: "timeout", detail: `timed out after ${timeoutMs} ms` };

/** Busy processes are late by a tenth of a second and still find what came in time; at half of the time-out it is luck. */
const LATE_FACTOR = 1.5;
const LATE_MS = 100;
/** A health page is short; of a longer one no more is read. */
const MOST_BODY_BYTES = 65_536;

export const createProbeRequest = (): ProbeRequest => {
  const agents = new Map<string, Agent>();
  /** By name, since a certificate is checked against the name that the connection was opened for. */
  const agentFor = (servername: string | null): Agent => {
    const key = servername ?? "";
    const known = agents.get(key);
    if (known !== undefined) return known;
    const agent = new Agent({ connect: servername === null ? {} : { servername }, connections: 4, pipelining: 1 });
    agents.set(key, agent);
    return agent;
  };

  return {
    request: async ({ url, host, timeoutMs }) => {
      const { origin, pathname, search, hostname } = new URL(url);
      const name = isIP(hostname.replace(/^\[|\]$/g, "")) === 0 ? null : host;
      const signal = AbortSignal.timeout(timeoutMs);
      const startedMs = performance.now();
      try {
        const { statusCode, body } = await agentFor(name).request({
          origin,
          path: `${pathname}${search}`,
          method: "GET",
          headers: { "user-agent": "llm-gtm-probe", accept: "*/*", ...(name === null ? {} : { host: name }) },
          signal,
        });
        // The status is the answer. A body that does not end is the timeout's business, not a failure.
        body.dump({ limit: MOST_BODY_BYTES, signal }).catch(() => body.destroy());
        return statusCode >= 200 && statusCode < 300
          ? { kind: "good" }
          : { kind: "status", detail: String(statusCode) };
      } catch (fault) {
        if (signal.aborted) return timedOut(timeoutMs, performance.now() - startedMs);
        return { kind: "error", detail: fault instanceof Error ? fault.message : String(fault) };
      }
    },
    close: async () => {
      await Promise.allSettled([...agents.values()].map((agent) => agent.destroy()));
      agents.clear();
    },
  };
};
