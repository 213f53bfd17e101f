/** The admin API as the page uses it: JSON in, JSON out, and every way to fail told apart. */

/**
 * `nobody`: no token, or one that is not known any more. `forbidden`: the role, or what it is limited to, does not suffice.
 * `away`: nothing answers. `refused`: it answers that it will not.
 */
export type Failure = {
  readonly kind: "nobody" | "forbidden" | "away" | "refused";
  readonly status: number | null;
  readonly detail: string;
  readonly rule: string | null;
};
export type Answer<Body> = { readonly body: Body; readonly etag: string | null };

export class ApiError extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.detail);
    this.failure = failure;
  }
}

const TOKEN = "gtm-token";
const DEADLINE_MS = 30_000;

/** Kept for this tab only. */
export const tokenOf = (): string => sessionStorage.getItem(TOKEN) ?? "";
export const setToken = (token: string): void =>
  token === "" ? sessionStorage.removeItem(TOKEN) : sessionStorage.setItem(TOKEN, token);

export type Call = {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly ifMatch?: string;
  readonly signal?: AbortSignal;
};

export const headersOf = ({ body, ifMatch }: Pick<Call, "body" | "ifMatch"> = {}): Headers => {
  const headers = new Headers();
  const token = tokenOf();
  if (token !== "") headers.set("authorization", `Bearer ${token}`);
  if (body !== undefined) headers.set("content-type", "application/json");
  if (ifMatch !== undefined) headers.set("if-match", ifMatch);
  return headers;
};

/** @throws {ApiError} */
export const call = async <Body>({ method = "GET", path, body, ifMatch, signal }: Call): Promise<Answer<Body>> => {
  const response = await sent(path, {
    method,
    headers: headersOf({ body, ...(ifMatch === undefined ? {} : { ifMatch }) }),
    signal: AbortSignal.any([AbortSignal.timeout(DEADLINE_MS), ...(signal === undefined ? [] : [signal])]),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new ApiError(failureOf(response.status, text));
  return { body: JSON.parse(text) as Body, etag: response.headers.get("etag") };
};

export const sent = async (path: string, init: RequestInit): Promise<Response> => {
  try {
    return await fetch(`/api/v1${path}`, { ...init, redirect: "error" });
  } catch (cause) {
    if (init.signal?.reason instanceof DOMException && init.signal.reason.name === "AbortError") throw cause;
    throw new ApiError({ kind: "away", status: null, detail: "This GTM does not answer.", rule: null });
  }
};

export const failureOf = (status: number, text: string): Failure => {
  const problem = problemIn(text);
  const detail = problem.detail ?? `The GTM answered ${status}.`;
  return { kind: kindOf(status, problem.detail !== undefined), status, detail, rule: problem.rule ?? null };
};

/** 429: so many tokens were none that this one is told to wait. */
const kindOf = (status: number, isProblem: boolean): Failure["kind"] => {
  if (status === 401 || status === 429) return "nobody";
  if (status === 403) return "forbidden";
  return status >= 500 && !isProblem ? "away" : "refused";
};

const problemIn = (text: string): { readonly detail?: string; readonly rule?: string } => {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
};
