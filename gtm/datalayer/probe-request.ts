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
  /** `detail` is for people: "503", "timed out after 800 ms", the error's words. */
  | { readonly kind: "status" | "timeout" | "error"; readonly detail: string };

export type ProbeRequest = {
  /** Never rejects, and settles within the address's timeout. */
  readonly request: (address: ProbeAddress) => Promise<ProbeOutcome>;
  /** Ends what is still being asked. */
  readonly close: () => Promise<void>;
};

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
        if (signal.aborted) return { kind: "timeout", detail: `timed out after ${timeoutMs} ms` };
        return { kind: "error", detail: fault instanceof Error ? fault.message : String(fault) };
      }
    },
    close: async () => {
      await Promise.allSettled([...agents.values()].map((agent) => agent.destroy()));
      agents.clear();
    },
  };
};
