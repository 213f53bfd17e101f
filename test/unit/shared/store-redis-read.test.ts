/** Many values out of Redis: by script where that is allowed, singly where it is not, in both ways the same. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Redis } from "ioredis";
import { readMany } from "#shared/store-redis-read.ts";

const KEYS = Array.from({ length: 100 }, (_, nth) => `key:${nth}`);

/** Every third key is absent, and every second of the others never expires. */
const storedUnder = (key: string): string | null => (Number(key.slice(4)) % 3 === 0 ? null : `value of ${key}`);
const leftOf = (key: string): number => (storedUnder(key) === null ? -2 : Number(key.slice(4)) % 2 === 0 ? -1 : 5_000);
const EXPECTED = KEYS.map((key) => {
  const value = storedUnder(key);
  return value === null ? null : { value, remainingMs: leftOf(key) === -1 ? null : 5_000 };
});

class ReplyError extends Error {
  override readonly name = "ReplyError";
}

/** @param refusal of the script by its hash; null: it is known */
const server = (refusal: string | null) => {
  const calls = { evalsha: 0, eval: 0, get: 0 };
  const script = async (_script: string, count: number, ...keys: string[]) =>
    keys.slice(0, count).flatMap((key) => [storedUnder(key), leftOf(key)]);
  const commands = Object.assign(new Redis({ lazyConnect: true }), {
    evalsha: async (hash: string, count: number, ...keys: string[]) => {
      calls.evalsha += 1;
      if (refusal !== null) throw new ReplyError(refusal);
      return script(hash, count, ...keys);
    },
    eval: async (text: string, count: number, ...keys: string[]) => {
      calls.eval += 1;
      return script(text, count, ...keys);
    },
    get: async (key: string) => {
      calls.get += 1;
      return storedUnder(key);
    },
    pttl: async (key: string) => leftOf(key),
  });
  return { commands, calls };
};

const neverRefused = (fault: Error): never => assert.fail(fault.message);

describe("many values of one server", () => {
  it("come by script, 64 at a time, in the order asked", async () => {
    const { commands, calls } = server(null);
    assert.deepEqual(await readMany(commands, KEYS, neverRefused), EXPECTED);
    assert.deepEqual(calls, { evalsha: 2, eval: 0, get: 0 });
  });
  it("come by the script's text where the server does not know its hash", async () => {
    const { commands, calls } = server("NOSCRIPT No matching script. Please use EVAL.");
    assert.deepEqual(await readMany(commands, KEYS, neverRefused), EXPECTED);
    assert.deepEqual(calls, { evalsha: 2, eval: 2, get: 0 });
  });
  it("come singly, and the refusal is told, where the script may not run or the keys are on several servers", async () => {
    for (const refusal of ["NOPERM this user has no permissions to run the 'evalsha' command", "CROSSSLOT Keys"]) {
      const { commands, calls } = server(refusal);
      const told: string[] = [];
      assert.deepEqual(await readMany(commands, KEYS, ({ message }) => told.push(message)), EXPECTED);
      assert.deepEqual([calls.get, told], [100, [refusal]]);
    }
  });
  it("come singly where they are few", async () => {
    const { commands, calls } = server(null);
    assert.deepEqual(await readMany(commands, KEYS.slice(0, 31), neverRefused), EXPECTED.slice(0, 31));
    assert.deepEqual(calls, { evalsha: 0, eval: 0, get: 31 });
  });
  it("are not asked for again where the server does not answer", async () => {
    const { commands, calls } = server(null);
    commands.evalsha = () => Promise.reject(new Error("Connection is closed."));
    await assert.rejects(readMany(commands, KEYS, neverRefused), /Connection is closed/);
    assert.equal(calls.get, 0);
  });
});
