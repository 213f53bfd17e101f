/** The shipped users, configuration and script: what each role of Redis may do, and what it is refused, as a transcript. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { makeCertificates } from "#test/support/certificates.ts";
import { type RedisServer, startRedis } from "#test/support/redis.ts";
import { redisCli } from "#test/support/redis-cli.ts";
import { ORDERS, TRANSCRIPTS } from "#test/support/redis-transcripts.ts";
import { makeRedisUsers, REDIS_FILES, type RedisUsers } from "#test/support/redis-users.ts";

const folder = mkdtempSync(join(tmpdir(), "gtm-redis-acl-"));
let redis: RedisServer;
let users: RedisUsers;
let tls: Awaited<ReturnType<typeof makeCertificates>>;

before(async () => {
  tls = await makeCertificates(mkdtempSync(join(folder, "tls-")));
  users = await makeRedisUsers(join(folder, "users"), ["eu-central", "us-east"]);
  redis = await startRedis({
    config: readFileSync(join(REDIS_FILES, "redis.conf"), "utf8"),
    aclFile: users.aclFile,
    login: users.login("admin"),
    tls,
  });
});
after(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true });
});

/** As redis-cli shows it; an error reply is its code alone, and a script is refused as the command in it would be. */
const replyTo = async (user: string, words: readonly string[]): Promise<string> => {
  const address = { port: redis.port, tls, login: users.login(user) };
  return redisCli(address, ...words).catch(({ message }: Error) =>
    message.startsWith("ERR The user executing the script can't") ? "NOPERM" : (message.split(" ")[0] ?? ""),
  );
};

for (const { user, may, mayNot } of TRANSCRIPTS) {
  describe(user, () => {
    for (const [words, reply] of may) {
      it(`${words.join(" ")} → ${reply}`, async () => assert.equal(await replyTo(user, words), reply));
    }
    for (const words of mayNot) {
      it(`${words.join(" ")} → NOPERM`, async () => assert.equal(await replyTo(user, words), "NOPERM"));
    }
  });
}

describe("somebody without a name", () => {
  for (const words of [["PING"], ["GET", ORDERS], ["FLUSHALL"]]) {
    it(`${words.join(" ")} → NOAUTH`, async () => {
      await assert.rejects(redisCli({ port: redis.port, tls, login: null }, ...words), /^Error: NOAUTH/);
    });
  }
  it("AUTH gtm with another's password → WRONGPASS", async () => {
    const login = { user: "gtm", password: users.login("edge-agent-us-east").password };
    await assert.rejects(redisCli({ port: redis.port, tls, login }, "PING"), /WRONGPASS/);
  });
});
