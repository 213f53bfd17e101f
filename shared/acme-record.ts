/** `acme:{name}`: the TXT values that answer a certificate authority's DNS-01 challenges for one name (RFC 8555 §8.4). */
import { z } from "zod";

/** A wildcard and the name above it share a name, and several orders may run at once. */
export const MOST_ACME_VALUES = 8;
/** Printable ASCII, in one string of a TXT record; an authority's is 43 characters of base64url. */
export const AcmeValue = z.string().regex(/^[\x20-\x7e]{1,255}$/, "must be 1 to 255 printable ASCII characters");

export const AcmeRecord = z.looseObject({
  v: z.literal(1),
  rev: z.int().positive(),
  /** Empty: all were taken back; who knows of one still, forgets it. */
  values: z
    .array(
      z.looseObject({
        value: AcmeValue,
        /** Who presented it, and may take it back: two who present the same each have theirs. */
        actor: z.string().min(1).max(128),
        /** How much sooner than the key it ends, ms: no two clocks need to agree. */
        earlierMs: z.int().nonnegative(),
      }),
    )
    .max(MOST_ACME_VALUES),
});
export type AcmeRecord = z.infer<typeof AcmeRecord>;
