/** The admin API on a real socket of loopback, with a fake GTM behind it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdmin } from "#gtm/wire/admin/server.ts";
import type { AuthOptions } from "#gtm/wire/admin/standing-auth.ts";
import { createToken, hashOfToken } from "#gtm/wire/admin/token.ts";
import { type Role, tokenLine } from "#gtm/wire/admin/tokens-file.ts";
import { createMetrics, type Metrics } from "#shared/metrics.ts";
import { type Logged, recordingLog } from "#test/support/recording-log.ts";
import { type FakeGtm, type FakeWish, fakeGtm } from "./fake-ports.ts";

export type RunningAdmin = AsyncDisposable & {
  readonly gtm: FakeGtm;
  readonly url: string;
  readonly metrics: Metrics;
  readonly lines: readonly Logged[];
  /** Sends a request below /api/v1 as JSON and reads the answer as JSON. */
  readonly ask: (method: string, path: string, options?: Ask) => Promise<Reply>;
  /** Others may use it from now on. */
  readonly changeAuth: (auth: Partial<AuthOptions>) => void;
};
export type Ask = { readonly body?: unknown; readonly token?: string; readonly headers?: Record<string, string> };
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose schemas are what they test
export type Reply = { readonly status: number; readonly headers: Headers; readonly body: any };

export type AdminWish = FakeWish & { readonly tokensFile?: string; readonly auth?: Partial<AuthOptions> };

const DAY_MS = 86_400_000;
/** Whoever connects over loopback is an admin. */
export const NO_AUTH: AuthOptions = { tokensFile: null, oidc: null, mostTokenMs: 90 * DAY_MS, withoutStoreMs: DAY_MS };

export const runningAdmin = async (wish: AdminWish = {}): Promise<RunningAdmin> => {
  const gtm = fakeGtm(wish);
  const metrics = createMetrics();
  const log = recordingLog();
  const admin = createAdmin({
    listen: { address: "127.0.0.1", port: 0 },
    auth: { ...NO_AUTH, tokensFile: wish.tokensFile ?? null, ...wish.auth },
    ports: gtm.ports,
    clock: gtm.clock,
    log,
    metrics,
  });
  await admin.start();
  const url = `http://127.0.0.1:${admin.address().port}`;
  return {
    gtm,
    url,
    metrics,
    lines: log.lines,
    changeAuth: (auth) => admin.prepare({ ...NO_AUTH, ...auth })(),
    ask: async (method, path, { body, token, headers } = {}) => {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
    },
    [Symbol.asyncDispose]: () => admin.stop(),
  };
};

export type Tokens = AsyncDisposable & {
  readonly path: string;
  readonly of: Readonly<Record<Role, string>>;
  readonly lines: readonly string[];
};

/** A tokens file with one token a role, named after it. */
export const tokensFile = async (): Promise<Tokens> => {
  const folder = await mkdtemp(join(tmpdir(), "gtm-tokens-"));
  const path = join(folder, "tokens.yaml");
  const of = { viewer: createToken(), operator: createToken(), admin: createToken(), acme: createToken() };
  const lines = (Object.keys(of) as Role[]).map((role) =>
    tokenLine({ name: `the-${role}`, role, sha256: hashOfToken(of[role]) }),
  );
  await writeFile(path, `${lines.join("\n")}\n`);
  return { path, of, lines, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
};
