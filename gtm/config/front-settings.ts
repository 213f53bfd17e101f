/** What the configuration says of how the front door answers: its own TLS, who stands before it, what tickets carry. */
import { z } from "zod";

const path = z.string().min(1).max(4_096);

/** Headers that frame or route a message: in a ticket they would say something else than the request that carries it. */
const NO_CREDENTIAL: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** In lower case. */
export const TicketHeader = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, "must be a header's name")
  .transform((name) => name.toLowerCase())
  .refine((name) => !NO_CREDENTIAL.has(name), "must be a header that proves who asks, not one that frames the request");

export const FrontTls = z.strictObject({
  /** PEM, the server's own certificate first. */
  cert_file: path,
  key_file: path,
});

/** How a pool's requests reach their region. */
export const PoolModeSetting = z.enum(["redirect", "forward", "auto"]);

type Gateways = {
  readonly regions: readonly { readonly id: string; readonly gateway: boolean }[];
  readonly keys: { readonly ticket_file: string | null };
};
type Proxied = { readonly http: { readonly proxy_protocol: boolean; readonly trusted_proxies: readonly string[] } };
type Fault = { readonly path: readonly (string | number)[]; readonly message: string };

/** A gateway opens tickets, and they are sealed with keys that it can be given. */
export const gatewayFaults = ({ regions, keys }: Gateways): readonly Fault[] =>
  keys.ticket_file !== null
    ? []
    : regions.flatMap(({ id, gateway }, at) =>
        gateway
          ? [{ path: ["regions", at, "gateway"], message: `${id} has a gateway, which needs keys.ticket_file` }]
          : [],
      );

/** Else anybody could claim anybody's address. */
export const proxyProtocolFaults = ({ http }: Proxied): readonly Fault[] =>
  http.proxy_protocol && http.trusted_proxies.length === 0
    ? [
        {
          path: ["http", "proxy_protocol"],
          message: "needs trusted_proxies: only of those the PROXY header is believed",
        },
      ]
    : [];
