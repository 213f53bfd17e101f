/** The way to one source: which certificates are believed, which credentials are shown where, under which name it is asked. */
import { readSecretFile } from "#shared/config.ts";
import { OperationalError } from "#shared/errors.ts";
import { createConnections } from "./connections.ts";
import type { Fault } from "./exposition.ts";
import { createFetchText, type FetchText } from "./fetch-text.ts";
import { type WatchedFile, watchedFile } from "./watched-file.ts";

export type Access = {
  /** Certificates of authorities, PEM; null: those that Node believes. */
  readonly caFile: string | null;
  /** For the engine's own API. */
  readonly apiKeyFile: string | null;
  /** For everything, where a proxy stands in front. */
  readonly bearerTokenFile: string | null;
};

export const NO_ACCESS: Access = { caFile: null, apiKeyFile: null, bearerTokenFile: null };

export type Door = {
  /** @param isGuarded whether the engine's API key belongs there */
  readonly fetch: (url: string, wish: Wish) => ReturnType<FetchText>;
  /** Files that cannot be used as they are now; what was read of them before is used on. */
  readonly faults: () => readonly Fault[];
  readonly close: () => void;
};

type Wish = { readonly accept: string; readonly isGuarded: boolean; readonly signal: AbortSignal };

export type DoorOptions = {
  readonly deadlineMs: number;
  /** The name behind an address: `host:port`; null: the URL says who is asked. */
  readonly host: string | null;
};

const MOST_CA_BYTES = 1_048_576;

/** @throws {OperationalError} GTM_CONFIG_UNREADABLE or AGENT_CONFIG_INVALID for a file that cannot be used at the start */
export const createDoor = (access: Access, { deadlineMs, host }: DoorOptions): Door => {
  const ca = access.caFile === null ? null : watchedFile(access.caFile, certificatesIn);
  const apiKey = secretOf(access.apiKeyFile);
  const bearerToken = secretOf(access.bearerTokenFile);
  const serverName = host === null ? null : new URL(`http://${host}`).hostname;
  const connect = (pem: string | null) => {
    const connections = createConnections({ ca: pem, serverName });
    return { pem, connections, fetchText: createFetchText(connections, deadlineMs, host) };
  };
  let way = connect(ca?.().content ?? null);

  const fetchText = (): FetchText => {
    const pem = ca?.().content ?? null;
    if (pem !== way.pem) {
      // What is under way ends as it began.
      way.connections.close();
      way = connect(pem);
    }
    return way.fetchText;
  };

  return {
    fetch: (url, { accept, isGuarded, signal }) => {
      const token = bearerToken?.().content ?? null;
      const bearer = isGuarded ? (apiKey?.().content ?? token) : token;
      return fetchText()(url, { accept, bearer, signal });
    },
    faults: () => [
      ...faultOf("ca_file", ca),
      ...faultOf("api_key_file", apiKey),
      ...faultOf("bearer_token_file", bearerToken),
    ],
    close: () => way.connections.destroy(),
  };
};

const secretOf = (path: string | null): WatchedFile<string> | null =>
  path === null ? null : watchedFile(path, (file) => readSecretFile(file));

const faultOf = (field: string, file: WatchedFile<string> | null): readonly Fault[] =>
  file === null || file().fault === null ? [] : [{ field, code: "unusable-file" }];

const certificatesIn = (path: string): string => {
  const pem = readSecretFile(path, MOST_CA_BYTES);
  if (pem.includes("-----BEGIN CERTIFICATE-----")) return pem;
  throw new OperationalError("AGENT_CONFIG_INVALID", `${path}: expected certificates in PEM`);
};
