/** One GET: the octets of its answer in a buffer that is used again, or why there are none. */

import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import type { Connections } from "./connections.ts";
import type { Deadline } from "./deadline.ts";
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
  readonly connections: Connections;
  readonly headers: Readonly<Record<string, string>>;
  readonly deadline: Deadline;
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

const received = (url: string, { connections, headers, deadline, buffer }: GetOptions): Promise<Received> =>
  new Promise((resolve) => {
    let status = 0;
    let fields: IncomingHttpHeaders = {};
    let bytes = 0;
    let isSettled = false;
    const settle = (got: Got): void => {
      if (isSettled) return;
      isSettled = true;
      resolve({ got, encoding: (fields["content-encoding"] ?? "").trim().toLowerCase() });
    };
    if (deadline.isOver()) return settle(failed("timed-out"));
    const request = opened(url, connections, headers);
    if (request === null) return settle(failed("unreachable"));
    const stop = (got: Got): void => {
      settle(got);
      request.destroy();
    };
    deadline.whenOver(() => stop(failed("timed-out")));
    const answered = (): Got => ({
      kind: "answered",
      status,
      contentType: fields["content-type"] ?? "",
      location: fields.location ?? "",
      octets: buffer.reserve(bytes, bytes).subarray(0, bytes),
    });
    const take = (chunk: Buffer): void => {
      if (isSettled) return;
      const isRedirect = REDIRECTS.has(status);
      const isTooLarge = bytes + chunk.length > (isRedirect ? MOST_REDIRECT_BYTES : MOST_BYTES);
      if (isTooLarge) stop(isRedirect ? answered() : failed("too-large"));
      else {
        chunk.copy(buffer.reserve(bytes + chunk.length, bytes), bytes);
        bytes += chunk.length;
      }
    };
    const fail = (error: unknown): void => {
      const code = codeOf(error);
      settle(status > 0 ? failed("half-sent") : failed(failureOf(code), CLOSED_UNANSWERED.has(code)));
    };
    request.on("error", fail);
    request.on("response", (response) => {
      status = response.statusCode ?? 0;
      fields = response.headers;
      response.on("data", take);
      response.on("end", () => settle(answered()));
      response.on("error", fail);
    });
    request.end();
  });

/** @returns null where such a request cannot be written */
const opened = (
  url: string,
  connections: Connections,
  headers: GetOptions["headers"],
): ReturnType<Connections["open"]> | null => {
  try {
    return connections.open(new URL(url), headers);
  } catch {
    return null;
  }
};

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

const CLOSED_UNANSWERED = new Set(["ECONNRESET", "EPIPE"]);

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : "";
