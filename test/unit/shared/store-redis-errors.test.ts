import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OperationalError } from "#shared/errors.ts";
import { storeErrorOf } from "#shared/store-redis-errors.ts";

const reply = (message: string): Error => Object.assign(new Error(message), { name: "ReplyError" });

describe("what Redis answers instead of a value", () => {
  const replies = [
    ["OOM command not allowed when used memory > 'maxmemory'.", "GTM_STORE_REFUSED"],
    ["NOPERM this user has no permissions to run the 'get' command", "GTM_STORE_REFUSED"],
    ["WRONGTYPE Operation against a key holding the wrong kind of value", "GTM_STORE_REFUSED"],
    ["NOAUTH Authentication required.", "GTM_STORE_REFUSED"],
    ["MISCONF Redis is configured to save RDB snapshots", "GTM_STORE_REFUSED"],
    ["LOADING Redis is loading the dataset in memory", "GTM_STORE_UNREACHABLE"],
    ["READONLY You can't write against a read only replica.", "GTM_STORE_UNREACHABLE"],
    ["MASTERDOWN Link with MASTER is down", "GTM_STORE_UNREACHABLE"],
    ["CLUSTERDOWN Hash slot not served", "GTM_STORE_UNREACHABLE"],
  ] as const;
  for (const [message, code] of replies) {
    it(`${message.split(" ")[0]} is ${code}`, () => {
      const error = storeErrorOf(reply(message));
      assert.equal(error.code, code);
      assert.ok(error.message.endsWith(message), "the server's words are kept");
    });
  }
  it("a connection that was lost is GTM_STORE_UNREACHABLE", () => {
    assert.equal(storeErrorOf(new Error("Connection is closed.")).code, "GTM_STORE_UNREACHABLE");
    assert.equal(storeErrorOf("odd").code, "GTM_STORE_UNREACHABLE");
  });
  it("an error of ours stays itself", () => {
    const ours = new OperationalError("GTM_STORE_UNREACHABLE", "no answer within 500 ms");
    assert.equal(storeErrorOf(ours), ours);
  });
});
