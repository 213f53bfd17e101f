/** One source's answer with a hard deadline and a limit on octets; redirects within its origin are followed; whatever goes wrong is a value. */
import type { Connections } from "./connections.ts";
import { createDeadline } from "./deadline.ts";
import { type BodyBuffer, createBodyBuffer, type Got, get, REDIRECTS } from "./fetch-octets.ts";
import type { Fetched, FetchFailure } from "./ports.ts";

export type FetchText = (url: string, options: FetchOptions) => Promise<Fetched>;

export type FetchOptions = {
  readonly accept: string;
  /** null: none. */
  readonly bearer: string | null;
  /** Ends the attempt early; counted as out of time. */
  readonly signal: AbortSignal;
};

/** `/metrics` → `/metrics/` in some versions of vLLM. */
const MOST_REDIRECTS = 2;

/**
 * @param deadlineMs for everything: connecting, waiting, reading to the end
 * @param host `host:port` that is said in place of the address that is asked; null: the address
 */
export const createFetchText = (
  connections: Connections,
  deadlineMs: number,
  host: string | null = null,
): FetchText => {
  const buffers = createBuffersByUrl();
  return async (url, { accept, bearer, signal }) => {
    const headers = {
      accept,
      "accept-encoding": "identity",
      ...(host === null ? {} : { host }),
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
    };
    const deadline = createDeadline(deadlineMs, signal);
    const { buffer, release } = buffers.take(url);
    try {
      return await follow(url, host, (from) => get(from, { connections, headers, deadline, buffer }));
    } finally {
      deadline.release();
      release();
    }
  };
};

/** Of so many addresses buffers are kept: a region's pages are few, each asked again and again. */
const MOST_KEPT = 64;

type Taken = { readonly buffer: BodyBuffer; readonly release: () => void };

/** Two by turns, so that an answer is valid until its address is asked for the next but one time. */
const createBuffersByUrl = () => {
  const byUrl = new Map<string, { turns: [BodyBuffer, BodyBuffer]; isTaken: boolean }>();
  const take = (url: string): Taken => {
    const known = byUrl.get(url) ?? { turns: [createBodyBuffer(), createBodyBuffer()], isTaken: false };
    if (known.isTaken || (!byUrl.has(url) && byUrl.size >= MOST_KEPT)) {
      return { buffer: createBodyBuffer(), release: () => {} };
    }
    byUrl.set(url, known);
    const [next, last] = known.turns;
    known.turns = [last, next];
    known.isTaken = true;
    return {
      buffer: next,
      release: () => {
        known.isTaken = false;
      },
    };
  };
  return { take };
};

const failed = (code: FetchFailure): Fetched => ({ kind: "failed", code });

const follow = async (url: string, host: string | null, ask: (url: string) => Promise<Got>): Promise<Fetched> => {
  let at = url;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const first = await ask(at);
    // A connection that was kept may be closed by the other side at the moment it is used again.
    const got = first.kind === "failed" && first.isStale ? await ask(at) : first;
    if (got.kind === "failed") return failed(got.code);
    if (!REDIRECTS.has(got.status)) {
      return { kind: "answered", status: got.status, contentType: got.contentType, octets: got.octets };
    }
    const next = withinOrigin(got.location, at, host);
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
