/** What the configuration says of who may use the admin API. */
import { z } from "zod";
import { duration } from "#shared/units.ts";

const DAY_MS = 86_400_000;
const path = z.string().min(1).max(4_096);
const globs = z
  .array(z.string().regex(/^[\x21-\x7e]{1,128}$/, "must be a glob without spaces, such as eu-*"))
  .min(1)
  .max(64)
  .optional();

/** In clear only on this host: whoever can change these answers can be anybody. */
const secureUrl = z.string().refine((text) => {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.hash !== "") return false;
  const isLoopback = ["localhost", "[::1]"].includes(url.hostname) || /^127(?:\.[0-9]+){3}$/.test(url.hostname);
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback);
}, "must be an https URL, such as https://id.example.org/realms/ops");

const OidcSettings = z.strictObject({
  /** As its tokens and its discovery document name it, to the letter. */
  issuer: secureUrl,
  /** What its tokens for this API name as their audience. */
  audience: z.string().min(1).max(512),
  /** Where its keys are; absent: where its discovery document says. */
  jwks_url: secureUrl.nullable().default(null),
  /** The claim that says who somebody is. */
  name_claim: z.string().min(1).max(128).default("sub"),
  /** The claim that gives roles: a text or a list; with dots one within another, such as realm_access.roles. */
  role_claim: z.string().min(1).max(128).default("roles"),
  /** The first whose value the claim has counts. */
  roles: z
    .array(
      z.strictObject({
        value: z.string().min(1).max(256),
        role: z.enum(["viewer", "operator", "admin"]),
        regions: globs,
        pools: globs,
        tenants: globs,
      }),
    )
    .min(1)
    .max(256),
});

export const AdminAuth = z.strictObject({
  tokens_file: path.nullable().default(null),
  /** The longest that a token stands which is made by the API. */
  tokens_for: duration
    .pipe(
      z
        .number()
        .min(60_000, "must be 1m or more")
        .max(400 * DAY_MS, "must be 400d or less"),
    )
    .default(90 * DAY_MS),
  /** How long such tokens are believed while the store cannot be read: none is known to be revoked meanwhile. */
  tokens_without_store: duration.pipe(z.number().max(30 * DAY_MS, "must be 30d or less")).default(DAY_MS),
  /** An OpenID Connect provider whose tokens are taken, too. */
  oidc: OidcSettings.nullable().default(null),
});
export type AdminAuth = z.output<typeof AdminAuth>;

/** In the words of the admin API. */
export const adminAuthOf = ({ tokens_file, tokens_for, tokens_without_store, oidc }: AdminAuth) => ({
  tokensFile: tokens_file,
  mostTokenMs: tokens_for,
  withoutStoreMs: tokens_without_store,
  oidc:
    oidc === null
      ? null
      : {
          ...{ issuer: oidc.issuer, audience: oidc.audience, jwksUrl: oidc.jwks_url },
          ...{ nameClaim: oidc.name_claim, roleClaim: oidc.role_claim, roles: oidc.roles },
        },
});
