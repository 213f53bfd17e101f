/** One GET: the octets of its answer in a buffer that is used again, or why there are none. */
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import type { Dispatcher } from "undici";
import type { FetchFailure } from "./ports.ts";

export type Got =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly contentType: string;
      readonly location: string;
      readonly octets: Buffer;
    }
  /** `isStale`: the other side closed the connection before it answered anything, as it may with one that was kept. */
  | { readonly kind: "failed"; readonly code: FetchFailure; readonly isStale: boolean };

export type GetOptions = {
  readonly dispatcher: Dispatcher;
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when it is out of time. */
  readonly deadline: AbortSignal;
  /** Grows as it must. */
  readonly buffer: BodyBuffer;
};

/** Where a body is put; its octets are valid until the next one is put there. */
export type BodyBuffer = { readonly reserve: (bytes: number, kept: number) => Buffer };

/** A busy page of eight engines is 1 MB; more than this is no metrics page. */
const MOST_BYTES = 16 * 1_048_576;
const MOST_REDIRECT_BYTES = 65_536;
const LEAST_BYTES = 4_096;
/** Of a page that comes in pieces of 64 KiB the buffer is moved a few times, once. */
const GROWTH = 1.25;

/** Once a page has been read, no memory is taken for the next one: it has about the same size. */
export const createBodyBuffer = (): BodyBuffer => {
  let buffer = Buffer.alloc(0);
  return {
    reserve: (bytes, kept) => {
      if (buffer.length >= bytes) return buffer;
      // Not a part of Node's pool, which would be kept with it.
      const larger = Buffer.allocUnsafeSlow(bytes <= LEAST_BYTES ? LEAST_BYTES : Math.ceil(bytes * GROWTH));
      buffer.copy(larger, 0, 0, kept);
      buffer = larger;
      return buffer;
    },
  };
};

export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/** Never rejects. */
export const get = async (url: string, options: GetOptions): Promise<Got> => {
  const { got, encoding } = await received(url, options);
  if (got.kind === "failed" || encoding === "" || encoding === "identity" || got.octets.length === 0) return got;
  const octets = await decoded(got.octets, encoding);
  return octets === null ? failed("encoded") : { ...got, octets };
};

const failed = (code: FetchFailure, isStale = false): Got => ({ kind: "failed", code, isStale });

type Received = { readonly got: Got; readonly encoding: string };

const received = (url: string, { dispatcher, headers, deadline, buffer }: GetOptions): Promise<Received> =>
  new Promise((resolve) => {
    const { origin, pathname, search } = new URL(url);
    let controller: Dispatcher.DispatchController | null = null;
    let status = 0;
    let fields: Readonly<Record<string, string | string[] | undefined>> = {};
    let bytes = 0;
    let isSettled = false;
    const settle = (got: Got): void => {
      if (isSettled) return;
      isSettled = true;
      deadline.removeEventListener("abort", outOfTime);
      resolve({ got, encoding: fieldOf(fields, "content-encoding").trim().toLowerCase() });
    };
    const answered = (): Got => ({
      kind: "answered",
      status,
      contentType: fieldOf(fields, "content-type"),
      location: fieldOf(fields, "location"),
      octets: buffer.reserve(bytes, bytes).subarray(0, bytes),
    });
    const stop = (got: Got): void => {
      settle(got);
      controller?.abort(STOPPED);
    };
    const outOfTime = (): void => stop(failed("timed-out"));
    if (deadline.aborted) return outOfTime();
    deadline.addEventListener("abort", outOfTime, { once: true });
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (started) => {
        controller = started;
        if (isSettled) started.abort(STOPPED);
      },
      onResponseStart: (_, code, named) => {
        if (code < 200) return;
        status = code;
        fields = named;
      },
      onResponseData: (_, chunk) => {
        if (isSettled) return;
        const isRedirect = REDIRECTS.has(status);
        if (bytes + chunk.length > (isRedirect ? MOST_REDIRECT_BYTES : MOST_BYTES)) {
          return stop(isRedirect ? answered() : failed("too-large"));
        }
        chunk.copy(buffer.reserve(bytes + chunk.length, bytes), bytes);
        bytes += chunk.length;
      },
      onResponseEnd: () => settle(answered()),
      onResponseError: (_, error) => {
        const code = codeOf(error);
        settle(status > 0 ? failed("half-sent") : failed(failureOf(code), CLOSED_WHILE_KEPT.has(code)));
      },
    };
    try {
      dispatcher.dispatch(
        { origin, path: pathname + search, method: "GET", headers, headersTimeout: 0, bodyTimeout: 0 },
        handler,
      );
    } catch (error) {
      settle(failed(failureOf(codeOf(error))));
    }
  });

const STOPPED = new Error("no more of it is wanted");

const DECODERS: Readonly<Record<string, (octets: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** Nobody asked for it, but proxies compress all the same. @returns null: in a way that is not known, damaged, or too large */
const decoded = async (octets: Buffer, encoding: string): Promise<Buffer | null> => {
  const decode = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  return (await decode?.(octets, { maxOutputLength: MOST_BYTES }).catch(() => null)) ?? null;
};

const failureOf = (code: string): FetchFailure => {
  if (code === "ECONNREFUSED") return "refused";
  return CERTIFICATE.test(code) ? "untrusted" : "unreachable";
};

/** OpenSSL's and Node's words for a certificate that is not believed. */
const CERTIFICATE = /^(?:ERR_TLS_CERT|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_SSL_.*CERT)/;

const CLOSED_WHILE_KEPT = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);

const fieldOf = (fields: Readonly<Record<string, string | string[] | undefined>>, name: string): string => {
  const value = fields[name];
  return (Array.isArray(value) ? value[0] : value) ?? "";
};

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : "";
