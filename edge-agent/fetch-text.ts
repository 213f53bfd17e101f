/** One GET with a hard deadline and a limit on octets; whatever goes wrong is a value. */
import { Agent, type Dispatcher, request } from "undici";
import type { Fetched, FetchFailure } from "./ports.ts";

export type FetchText = (url: string, options: FetchOptions) => Promise<Fetched>;

export type FetchOptions = {
  readonly accept: string;
  /** null: none. */
  readonly bearer: string | null;
  /** Ends the attempt early; counted as out of time. */
  readonly signal: AbortSignal;
};

/** A busy page of eight engines is 1 MB; more than this is no metrics page. */
const MOST_BYTES = 16 * 1_048_576;
/** `/metrics` → `/metrics/` in some versions of vLLM. */
const MOST_REDIRECTS = 2;
const MOST_REDIRECT_BYTES = 65_536;
const REDIRECTS = new Set([301, 302, 307, 308]);

/** What is asked of one engine at once: page, model list, health, and what its engine has beside them. */
const MOST_CONNECTIONS = 4;

export type Trust = {
  /** Certificates that are believed, as PEM; null: those that Node believes. */
  readonly ca: string | null;
  /** The name that a certificate must be for, where addresses are asked; null: the one in the URL. */
  readonly serverName: string | null;
};

/** Connections are kept; `close` ends them. */
export const createDispatcher = (trust: Trust = { ca: null, serverName: null }): Dispatcher =>
  new Agent({
    keepAliveTimeout: 4_000,
    pipelining: 1,
    connections: MOST_CONNECTIONS,
    connect: {
      ...(trust.ca === null ? {} : { ca: trust.ca }),
      ...(trust.serverName === null ? {} : { servername: trust.serverName }),
    },
  });

/**
 * @param deadlineMs for everything: connecting, waiting, reading to the end
 * @param host `host:port` that is said in place of the address that is asked; null: the address
 */
export const createFetchText =
  (dispatcher: Dispatcher, deadlineMs: number, host: string | null = null): FetchText =>
  async (url, { accept, bearer, signal }) => {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
    const headers = {
      accept,
      "accept-encoding": "identity",
      ...(host === null ? {} : { host }),
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
    };
    const get = (from: string): Promise<Dispatcher.ResponseData> =>
      request(from, { dispatcher, headers, signal: deadline, headersTimeout: 0, bodyTimeout: 0 });
    return follow(url, get, { deadline, host });
  };

type Get = (url: string) => Promise<Dispatcher.ResponseData>;
type Limits = { readonly deadline: AbortSignal; readonly host: string | null };

const failed = (code: FetchFailure): Fetched => ({ kind: "failed", code });

const follow = async (url: string, get: Get, limits: Limits): Promise<Fetched> => {
  let at = url;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    let response: Dispatcher.ResponseData;
    try {
      response = await getTwice(at, get, limits);
    } catch (error) {
      return failed(limits.deadline.aborted ? "timed-out" : failureOf(codeOf(error)));
    }
    // A body that is ended early says so as an error, and nobody else listens.
    response.body.on("error", () => {});
    if (!REDIRECTS.has(response.statusCode)) return read(response, limits);
    await response.body.dump({ limit: MOST_REDIRECT_BYTES }).catch(() => undefined);
    const next = withinOrigin(headerOf(response, "location"), at, limits.host);
    if (next === null) return failed("redirected");
    at = next;
  }
  return failed("redirected");
};

/** Elsewhere a page of somebody else could be waiting, and the credential is not theirs. */
const withinOrigin = (location: string, at: string, host: string | null): string | null => {
  const from = new URL(at);
  const next = URL.parse(location, at);
  if (next === null || next.username !== "" || next.password !== "") return null;
  if (next.origin === from.origin) return next.href;
  // It knows itself by its name only, which other addresses have too.
  const isItsName = next.protocol === from.protocol && host !== null && withPort(next) === host.toLowerCase();
  return isItsName ? `${from.origin}${next.pathname}${next.search}` : null;
};

const withPort = ({ hostname, port, protocol }: URL): string =>
  `${hostname}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;

const failureOf = (code: string): FetchFailure => {
  if (code === "ECONNREFUSED") return "refused";
  return CERTIFICATE.test(code) ? "untrusted" : "unreachable";
};

/** OpenSSL's and Node's words for a certificate that is not believed. */
const CERTIFICATE = /^(?:ERR_TLS_CERT|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_SSL_.*CERT)/;

/** A connection that was kept may be closed by the other side at the moment it is used again. */
const getTwice = async (url: string, get: Get, { deadline }: Limits): Promise<Dispatcher.ResponseData> => {
  try {
    return await get(url);
  } catch (error) {
    if (deadline.aborted || !CLOSED_WHILE_KEPT.has(codeOf(error))) throw error;
    return get(url);
  }
};

const CLOSED_WHILE_KEPT = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);

const read = async (response: Dispatcher.ResponseData, { deadline }: Limits): Promise<Fetched> => {
  const { body } = response;
  if (!["", "identity"].includes(headerOf(response, "content-encoding"))) {
    body.destroy();
    return failed("encoded");
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) return failed("too-large");
      chunks.push(chunk);
    }
  } catch {
    return failed(deadline.aborted ? "timed-out" : "half-sent");
  }
  return {
    kind: "answered",
    status: response.statusCode,
    contentType: headerOf(response, "content-type"),
    text: Buffer.concat(chunks).toString("utf8"),
  };
};

const headerOf = ({ headers }: Dispatcher.ResponseData, name: string): string => {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? "";
};

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : "";
