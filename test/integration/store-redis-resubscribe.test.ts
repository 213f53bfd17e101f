/** A connection that breaks again while it asks anew for the channels of before: on-call's first minute of many a Redis. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { describe, it } from "node:test";
import { systemClock } from "#shared/clock.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { until } from "#test/support/until.ts";

/** What a Redis says in RESP2 to a command, as far as this needs it. */
const replyTo = ([name = "", ...args]: readonly string[]): string => {
  if (name === "ping") return "+PONG\r\n";
  if (name === "info") return "$17\r\nredis_version:7.0\r\n";
  if (name === "subscribe") return `*3\r\n$9\r\nsubscribe\r\n$${args[0]?.length}\r\n${args[0]}\r\n:1\r\n`;
  return "+OK\r\n";
};

/** Requests are arrays of strings, which hold no line breaks here. */
const commandsIn = (text: string): readonly (readonly string[])[] =>
  text
    .split(/^\*\d+\r\n/m)
    .filter((part) => part !== "")
    .map((part) => part.split("\r\n").filter((_, at) => at % 2 === 1))
    .map(([name = "", ...args]) => [name.toLowerCase(), ...args]);

/** A Redis that breaks some connections when it is asked for channels. */
const startRedisThatBreaks = async (breaks: (subscription: number) => boolean) => {
  const sockets = new Set<Socket>();
  let subscriptions = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (bytes) => {
      for (const command of commandsIn(bytes.toString())) {
        if (command[0] === "subscribe" && breaks(++subscriptions)) socket.destroy();
        else socket.write(replyTo(command));
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
  return {
    url: `redis://127.0.0.1:${address.port}`,
    subscriptions: () => subscriptions,
    breakAll: () => {
      for (const socket of sockets) socket.destroy();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
};

describe("a Redis that is lost again while a program asks anew for its channels", () => {
  it("is one more loss and no more: the program lives, and has its channels at the next connection", async () => {
    await using redis = await startRedisThatBreaks((subscription) => subscription === 2 || subscription === 3);
    const unhandled: unknown[] = [];
    const hear = (fault: unknown): unknown => unhandled.push(fault);
    process.on("unhandledRejection", hear);
    const log = recordingLog();
    const store = openStore(StoreSettings.parse({ url: redis.url }), { clock: systemClock, log, name: "test" });
    try {
      await store.subscribe("gtm:v1:changed", () => undefined);
      redis.breakAll();
      await until(() => redis.subscriptions() >= 4, "a fourth subscription");
      await until(() => store.isUp(), "the store");
      assert.deepEqual(unhandled, []);
    } finally {
      await store.close();
      process.off("unhandledRejection", hear);
    }
  });
});
