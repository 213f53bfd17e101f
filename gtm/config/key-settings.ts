/** `keys:` of the configuration: where the key files lie that `gtm keys init` makes. */
import { z } from "zod";
import type { KeyFiles } from "#gtm/keys/key-files.ts";

const path = z.string().min(1).max(4_096).nullable().default(null);

export const KeySettings = z.strictObject({
  /** Makes the identities of conversations. Without it and `signing_file` both are made at start and lost at the end. */
  identity_file: path,
  /** Signs labels and pin tokens. */
  signing_file: path,
  /** Seals tickets. */
  ticket_file: path,
  /** Verifies the regions' reports; a region without a key in it may report unsigned. */
  reports_file: path,
  /** Makes DNS cookies. Without it each GTM makes its own at start, and a client's cookie is good for one GTM only. */
  cookie_file: path,
});
export type KeySettings = z.output<typeof KeySettings>;

export const keyFilesOf = (keys: KeySettings): KeyFiles => ({
  identity: keys.identity_file,
  signing: keys.signing_file,
  ticket: keys.ticket_file,
  reports: keys.reports_file,
  cookie: keys.cookie_file,
});

/** An identity that outlives the process behind labels that do not would lose its homes at each restart, and the other way round. */
export const keyFaults = (keys: KeySettings): readonly { readonly path: string[]; readonly message: string }[] => {
  const pair = ["identity_file", "signing_file"] as const;
  const missing = pair.filter((name) => keys[name] === null);
  return missing.length === 1
    ? missing.map((name) => ({
        path: ["keys", name],
        message: "identity_file and signing_file are given together, or neither",
      }))
    : [];
};
