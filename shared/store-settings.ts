/** The store, as both programs' configurations name it. */
import { z } from "zod";
import { parseStoreUrl, STORE_URL_FORMS } from "./store-url.ts";
import { duration } from "./units.ts";

const path = z.string().min(1).max(4_096);

/** Every `*_file` is read again at each connect, so that a secret can be changed without a restart. */
export const StoreSettings = z.strictObject({
  url: z.string().refine((text) => parseStoreUrl(text) !== null, `must be ${STORE_URL_FORMS}`),
  username_file: path.nullable().default(null),
  /** Speaks louder than a password in the URL. */
  password_file: path.nullable().default(null),
  /** Of the Sentinels themselves, where they ask for one. */
  sentinel_password_file: path.nullable().default(null),
  /** A private certificate authority; absent: those that Node trusts. */
  ca_file: path.nullable().default(null),
  /** For servers that ask clients for a certificate. */
  cert_file: path.nullable().default(null),
  key_file: path.nullable().default(null),
  /** An operation that is not answered by then has failed. */
  deadline: duration.pipe(z.number().min(20).max(60_000)).default(500),
});
export type StoreSettings = z.output<typeof StoreSettings>;

export type StoreFault = { readonly path: readonly string[]; readonly message: string };

/** What is wrong between the settings. */
export const storeFaults = (settings: StoreSettings): readonly StoreFault[] => {
  const isTls = settings.url.startsWith("rediss");
  const needsTls = (["ca_file", "cert_file", "key_file"] as const)
    .filter((key) => settings[key] !== null && !isTls)
    .map((key) => ({ path: [key], message: "has no use without TLS: store.url must begin with rediss" }));
  const isHalf = (settings.cert_file === null) !== (settings.key_file === null);
  return isHalf ? [...needsTls, { path: ["cert_file"], message: "cert_file and key_file belong together" }] : needsTls;
};
