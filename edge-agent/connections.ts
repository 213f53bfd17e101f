/** Connections to one source, kept from question to question: over TCP or TLS, as its addresses say. */
import type { Agent, ClientRequest } from "node:http";
import { http, loadHttps } from "./node-http.ts";

export type Trust = {
  /** Certificates that are believed, as PEM; null: those that Node believes. */
  readonly ca: string | null;
  /** The name that a certificate must be for, where addresses are asked; null: the one in the URL. */
  readonly serverName: string | null;
};

export type Connections = {
  /** A GET that has not been sent yet. @throws {TypeError} for a header or path that HTTP does not allow */
  readonly open: (url: URL, headers: Readonly<Record<string, string>>) => ClientRequest;
  /** What is under way ends as it began; nothing is kept after it. */
  readonly close: () => void;
  /** At once. */
  readonly destroy: () => void;
};

/** What is asked of one engine at once: page, model list, health, and what its engine has beside them. */
const MOST_CONNECTIONS = 4;
/** Servers in Python close theirs after 5 s. */
const IDLE_MS = 4_000;

const SETTINGS = { keepAlive: true, maxSockets: MOST_CONNECTIONS, timeout: IDLE_MS };

export const createConnections = ({ ca, serverName }: Trust = { ca: null, serverName: null }): Connections => {
  let plain: Agent | null = null;
  let secure: Agent | null = null;
  const agents = (): readonly Agent[] => [plain, secure].filter((agent) => agent !== null);
  const plainAgent = (): Agent => {
    plain ??= new http.Agent(SETTINGS);
    return plain;
  };
  const secureAgent = (): Agent => {
    const trust = { ...(ca === null ? {} : { ca }), ...(serverName === null ? {} : { servername: serverName }) };
    secure ??= new (loadHttps().Agent)({ ...SETTINGS, ...trust });
    return secure;
  };
  return {
    open: ({ protocol, hostname, port, pathname, search }, headers) => {
      const options = {
        // An IPv6 address has brackets in a URL only.
        hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
        port,
        path: pathname + search,
        headers,
      };
      return protocol === "https:"
        ? loadHttps().request({ ...options, agent: secureAgent() })
        : http.request({ ...options, agent: plainAgent() });
    },
    close: () => {
      for (const agent of agents()) {
        // With this off a connection ends when its answer has.
        Object.assign(agent, { keepAlive: false });
        for (const idle of Object.values(agent.freeSockets).flat()) idle?.destroy();
      }
    },
    destroy: () => {
      for (const agent of agents()) agent.destroy();
    },
  };
};
