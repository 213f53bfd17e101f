/** The comparison's users as traffic: a closed loop, each with dice of its own. */
import { BLOCK_TOKENS } from "./serving/block-hash.ts";
import type { Client, Traffic } from "./traffic.ts";
import { createUsers, type User, type WorkloadOptions } from "./workload.ts";

export const workloadTraffic = (options: WorkloadOptions): Traffic => ({
  blockTokens: BLOCK_TOKENS,
  clients: () =>
    createUsers(options)
      .toSorted((a, b) => a.startsAtMs - b.startsAtMs)
      .map(clientOf)
      .values(),
});

const clientOf = (user: User): Client => {
  const { city, lastMileMs, startsAtMs } = user;
  let thinkMs = 0;
  return {
    ...{ city, lastMileMs, startsAtMs },
    next: () => {
      const planned = user.nextTurn();
      const { conversation, turn, promptTokens, outputTokens } = planned;
      const asks = { kind: "after" as const, thinkMs };
      thinkMs = planned.thinkMs;
      const { number, blocks } = conversation;
      return { conversation: number, parent: null, turn, promptTokens, outputTokens, blocks, asks };
    },
  };
};
