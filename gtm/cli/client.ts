/** The admin API as the command line uses it: JSON in, JSON out, every way to fail told in a sentence. */
import { z } from "zod";
import { Problem } from "#gtm/wire/admin/problem.ts";
import { CliFailure, EXIT } from "./failure.ts";

export type Answer = { readonly body: unknown; readonly etag: string | null };

export type Call = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below /api/v1. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly ifMatch?: string;
};

export type Client = {
  readonly server: string;
  readonly call: (call: Call) => Promise<Answer>;
  /** An endless answer; the caller reads its body. */
  readonly stream: (call: Call, lastEventId: string | null, signal: AbortSignal) => Promise<Response>;
};

const DEADLINE_MS = 30_000;

type ClientOptions = { readonly server: string; readonly token: string | undefined };

/** @throws {CliFailure} usage, where the server is no http address */
export const createClient = ({ server, token }: ClientOptions): Client => {
  const base = baseOf(server);
  const send = async (call: Call, more: RequestInit): Promise<Response> => {
    const headers = headersOf(call, token, more.headers);
    const payload = call.body === undefined ? {} : { body: JSON.stringify(call.body) };
    try {
      // A redirect would carry the token to somewhere else.
      return await fetch(urlOf(base, call), { ...more, ...payload, method: call.method, headers, redirect: "error" });
    } catch (error) {
      throw unreachable(base, error);
    }
  };
  return {
    server: base,
    call: async (call) => {
      const response = await send(call, { signal: AbortSignal.timeout(DEADLINE_MS) });
      const body = await jsonOf(response, base);
      if (!response.ok) throw refusal(response.status, body, token);
      return { body, etag: response.headers.get("etag") };
    },
    stream: async (call, lastEventId, signal) => {
      const resume: Record<string, string> = lastEventId === null ? {} : { "last-event-id": lastEventId };
      const response = await send(call, { headers: { accept: "text/event-stream", ...resume }, signal });
      if (!response.ok) throw refusal(response.status, await jsonOf(response, base), token);
      return response;
    },
  };
};

const urlOf = (base: string, { path, query = {} }: Call): URL => {
  const url = new URL(`${base}/api/v1${path}`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  return url;
};

const headersOf = (
  { body, ifMatch }: Call,
  token: string | undefined,
  more: ConstructorParameters<typeof Headers>[0],
): Headers => {
  const headers = new Headers(more);
  if (token !== undefined && token !== "") headers.set("authorization", `Bearer ${token}`);
  if (body !== undefined) headers.set("content-type", "application/json");
  if (ifMatch !== undefined) headers.set("if-match", ifMatch);
  return headers;
};

const baseOf = (server: string): string => {
  if (URL.canParse(server)) {
    const url = new URL(server);
    if (url.protocol === "http:" || url.protocol === "https:") return url.origin;
  }
  throw new CliFailure(EXIT.usage, `--server: expected an address such as http://127.0.0.1:9443, found ${server}`);
};

const jsonOf = async (response: Response, base: string): Promise<unknown> => {
  const type = response.headers.get("content-type") ?? "no content type";
  const text = await response.text().catch((error: unknown) => {
    throw unreachable(base, error);
  });
  const json = /^application\/(?:problem\+)?json/.test(type) ? parsed(text) : undefined;
  if (json !== undefined) return json;
  throw new CliFailure(
    EXIT.error,
    `what answers at ${base} is not the admin API of a GTM (status ${response.status}, ${type}); check --server`,
  );
};

/** undefined: not JSON, which has no such value. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name cannot be resolved now",
  ETIMEDOUT: "no answer in time",
  UND_ERR_CONNECT_TIMEOUT: "no answer in time",
  UND_ERR_SOCKET: "the connection was closed",
  HPE_INVALID_CONSTANT: "what answers does not speak HTTP",
};

/** @param option the one that names the address */
export const unreachable = (base: string, error: unknown, option = "--server"): CliFailure =>
  new CliFailure(
    EXIT.unreachable,
    `cannot reach the GTM at ${base}: ${causeOf(error)}. Does it run? ${option} names another address.`,
  );

const causeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `no answer within ${DEADLINE_MS / 1_000} s`;
  const cause = error.cause instanceof Error ? error.cause : error;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  return CAUSES[code] ?? (cause.message || code || error.message);
};

const refusal = (status: number, body: unknown, token: string | undefined): CliFailure => {
  const problem = Problem.safeParse(body);
  if (!problem.success)
    return new CliFailure(EXIT.error, `the GTM answered ${status}: ${z.prettifyError(problem.error)}`);
  return new CliFailure(exitCodeOf(problem.data), sentenceOf(problem.data, token));
};

const exitCodeOf = ({ status, rule }: Problem): number => {
  if (rule !== undefined) return EXIT.refusedBySafetyRule;
  if (status === 409 || status === 412) return EXIT.precondition;
  return status === 400 ? EXIT.usage : EXIT.error;
};

const sentenceOf = (
  { status, title, detail, rule, pass, code, faults }: Problem,
  token: string | undefined,
): string => {
  if (status === 401) {
    const hint = (token ?? "") === "" ? "GTM_TOKEN is not set" : "the token in GTM_TOKEN was not accepted";
    return `401, ${hint}: ${detail} \`gtm token create\` makes one.`;
  }
  if (rule !== undefined) {
    const rules = (pass ?? rule).replace(/^override_rule=/, "").split(",");
    const options = rules.map((one) => `--override-rule ${one}`).join(" ");
    return `refused by the safety rule ${rule}: ${withoutHint(detail)} ${options} ${rules.length === 1 ? "does" : "do"} it all the same.`;
  }
  if (code === "internal-error" || status === 503) return `${status}, ${title.toLowerCase()}: ${detail}`;
  if (faults !== undefined)
    return faults.map(({ at, message }) => `${at.replace(/^[a-z]+\./, "")}: ${message}`).join("; ");
  return detail;
};

/** The API tells of its own parameter; here it is an option. */
const withoutHint = (detail: string): string => detail.replace(/ override_rule=\S+ does it all the same\.$/, "");
