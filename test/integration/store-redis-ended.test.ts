/**
 * A connection that ioredis has ended for good, as it does when Sentinels tell of a failover while one is being made: seen once in
 * eight failovers on a busy machine, where the store then stayed away until the process was started again.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRedisClients } from "#shared/store-redis-clients.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { parseStoreUrl } from "#shared/store-url.ts";
import { startRedis } from "#test/support/redis.ts";
import { until } from "#test/support/until.ts";

const opened = (url: string) => {
  const address = parseStoreUrl(url);
  if (address === null || address.kind === "memory") throw new Error(`${url} is no Redis`);
  const faults: Error[] = [];
  const settings = StoreSettings.parse({ url });
  const options = { name: "ended", random: () => 0.5, onFault: (fault: Error) => void faults.push(fault) };
  return createRedisClients(address, settings, options);
};

describe("a connection that has ended", () => {
  it("is made again, the one for commands and the one for channels", async () => {
    await using server = await startRedis();
    const { commands, subscriber, close } = opened(server.url);
    for (const redis of [commands, subscriber]) {
      await until(() => redis.status === "ready", "the first connection");
      redis.disconnect();
      await until(() => redis.status === "end", "its end");
      await until(() => redis.status === "ready", "its return");
    }
    assert.equal(await commands.ping(), "PONG");
    close();
  });

  it("stays ended once it is closed", async () => {
    await using server = await startRedis();
    const { commands, subscriber, close } = opened(server.url);
    await until(() => commands.status === "ready" && subscriber.status === "ready", "both");
    commands.disconnect();
    close();
    // Another that ends later and is back says that these would be, too.
    const other = opened(server.url);
    await until(() => other.commands.status === "ready", "the other");
    other.commands.disconnect();
    await until(() => other.commands.status === "end", "its end");
    await until(() => other.commands.status === "ready", "its return");
    other.close();
    assert.deepEqual([commands.status, subscriber.status], ["end", "end"]);
  });
});
