/** Why a server cannot be asked, in one word, out of what systems, TLS and servers say. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AwayCause, awayOf, awayOfReply } from "#shared/store-redis-facts-away.ts";

const systemFault = (code: string): Error => Object.assign(new Error(`connect ${code} 192.0.2.1:6379`), { code });

describe("a server is away", () => {
  const codes: readonly (readonly [code: string, cause: AwayCause])[] = [
    ["ECONNREFUSED", "refused"],
    ["ETIMEDOUT", "timeout"],
    ["ENOTFOUND", "unresolved"],
    ["EHOSTUNREACH", "no-route"],
    ["ECONNRESET", "closed"],
    ["CERT_HAS_EXPIRED", "certificate-expired"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "certificate-name"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "certificate-untrusted"],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "certificate-untrusted"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "no-tls"],
    ["ERR_SSL_NO_CIPHER_MATCH", "tls"],
    ["EWHATEVER", "other"],
  ];
  for (const [code, cause] of codes) {
    it(`as ${cause} after ${code}`, () => assert.equal(awayOf(systemFault(code)).cause, cause));
  }
  const replies: readonly (readonly [message: string, cause: AwayCause])[] = [
    ["WRONGPASS invalid username-password pair or user is disabled.", "wrong-password"],
    ["NOAUTH Authentication required.", "no-credentials"],
    ["NOPERM this user has no permissions to run the 'ping' command", "not-permitted"],
    ["LOADING Redis is loading the dataset in memory", "loading"],
    ["ERR max number of clients reached", "full"],
    ["DENIED Redis is running in protected mode", "protected"],
    ["ERR This instance has cluster support disabled", "not-a-cluster"],
    ["ERR something else", "other"],
  ];
  for (const [message, cause] of replies) {
    it(`as ${cause} after "${message}"`, () => assert.deepEqual(awayOfReply(message), { cause, detail: message }));
  }
  it("as timeout after silence", () => assert.equal(awayOf(null).cause, "timeout"));
});
