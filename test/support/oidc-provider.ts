/** An identity provider on loopback: keys made here, a discovery document, tokens of any content. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from "jose";

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;
type Key = { readonly kid: string; readonly pair: Pair };

export type Claims = Readonly<Record<string, unknown>>;

export type OidcProvider = AsyncDisposable & {
  readonly issuer: string;
  readonly jwksUrl: string;
  /** Requests so far, by path. */
  readonly asked: Record<string, number>;
  /** What it answers: as it should; 500; something else than keys. */
  mode: "well" | "failing" | "nonsense";
  /** Signs with a new key from now on, and publishes it beside the old one, or in its place. */
  readonly rotate: (keepsOld: boolean) => Promise<void>;
  /** @param atMs Unix epoch; claims of undefined are left out, others may be of any type */
  readonly token: (
    claims: Claims,
    atMs: number,
    wish?: { readonly alg?: string; readonly kid?: string },
  ) => Promise<string>;
  /** The public key as text: what a confused verifier would take for a shared secret. */
  readonly publicPem: () => Promise<string>;
};

export const startOidcProvider = async (): Promise<OidcProvider> => {
  const keys: Key[] = [];
  const asked: Record<string, number> = {};
  let made = 0;
  const add = async (): Promise<void> => {
    made += 1;
    keys.push({ kid: `key-${made}`, pair: await generateKeyPair("ES256", { extractable: true }) });
  };
  await add();
  const published = async () =>
    Promise.all(
      keys.map(async ({ kid, pair }) => ({ ...(await exportJWK(pair.publicKey)), kid, use: "sig", alg: "ES256" })),
    );
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked[path] = (asked[path] ?? 0) + 1;
    const body = path.endsWith("/keys")
      ? published().then((all) => JSON.stringify({ keys: all }))
      : Promise.resolve(JSON.stringify({ issuer: provider.issuer, jwks_uri: provider.jwksUrl }));
    void body.then((text) => {
      response.writeHead(provider.mode === "failing" ? 500 : 200, { "content-type": "application/json" });
      response.end(provider.mode === "nonsense" ? "<html>" : text);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realm`;
  const newest = (): Key => {
    const key = keys.at(-1);
    if (key === undefined) throw new Error("the provider has no key");
    return key;
  };
  const provider: OidcProvider = {
    ...{ issuer, jwksUrl: `${issuer}/keys`, asked, mode: "well" },
    rotate: async (keepsOld) => {
      await add();
      if (!keepsOld) keys.splice(0, keys.length - 1);
    },
    token: (claims, atMs, { kid } = {}) => {
      const seconds = Math.floor(atMs / 1_000);
      const all = {
        iss: issuer,
        aud: "llm-gtm",
        sub: "alice",
        iat: seconds,
        exp: seconds + 600,
        jti: "id-1",
        ...claims,
      };
      return new SignJWT(all as JWTPayload)
        .setProtectedHeader({ alg: "ES256", kid: kid ?? newest().kid })
        .sign(newest().pair.privateKey);
    },
    publicPem: () => exportSPKI(newest().pair.publicKey),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return provider;
};
