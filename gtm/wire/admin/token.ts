/** Bearer tokens: 256 random bits that their owner keeps; the GTM keeps only the hash. */
import { createHash, randomBytes } from "node:crypto";

/** `gtm_` and 32 octets in base64url, 43 characters. @param random 32 octets from a secure source */
export const createToken = (random: Uint8Array = randomBytes(32)): string =>
  `gtm_${Buffer.from(random).toString("base64url")}`;

/** SHA-256, hexadecimal. A slow hash would protect nothing: there is no dictionary of 256 random bits. */
export const hashOfToken = (token: string): string => createHash("sha256").update(token, "utf8").digest("hex");

/** What a token is called where it is listed; says nothing of the token. */
export const createTokenId = (random: Uint8Array = randomBytes(8)): string =>
  `tk-${Buffer.from(random).toString("hex")}`;
