/** The story's steps about Redis: it is lost, everything goes on without it, and what it lost is put back. */
import { AdminRefusal } from "./admin.ts";
import { resolve } from "./conversation.ts";
import { expect, seconds } from "./expectation.ts";
import { ZONE } from "./places.ts";
import type { DemoRedis, Outage } from "./redis.ts";
import type { GtmSeat } from "./stack.ts";
import { ALL_REGIONS, expectTurn, LATER_PROMPT_TOKENS, type Stage, type Step } from "./stage.ts";
import { deathSteps } from "./story-regions.ts";
import { returnStep } from "./story-return.ts";

const WORDS = {
  killed: { lost: "Redis is killed", back: "Redis is started again, empty" },
  "cut-off": { lost: "Redis is cut off from every program", back: "Redis can be reached again" },
} as const satisfies Record<Outage["kind"], object>;

/** @returns none where the story cannot lose this Redis */
export const outageSteps = (stage: Stage, { store, outage }: DemoRedis): readonly Step[] => {
  if (outage === null) return [];
  const words = WORDS[outage.kind];
  const death = deathSteps(stage);
  return [
    lossStep(stage, outage, words.lost),
    goingOnStep(stage),
    refusalStep(stage),
    death.kill(" while Redis is away"),
    returnStep(stage, { store, outage, title: words.back }),
    {
      title: "the region is started again, and no GTM is degraded any more",
      tell: async () => `${await death.revive.tell()}\n${await wholeAgain(stage)}`,
    },
  ];
};

const lossStep = (stage: Stage, outage: Outage, title: string): Step => ({
  title: `${title}: every GTM says so`,
  tell: async () => {
    await stage.homeKnown();
    const lostAtMs = performance.now();
    await outage.begin();
    const lines = stage.stack.gtms.map(({ instance, admin }) =>
      stage.patience.soon(
        async () => {
          const { isStoreUp, degradations } = await admin.status();
          const store = degradations.find(({ what }) => what === "store");
          if (isStoreUp || store === undefined) return null;
          const afterMs = performance.now() - lostAtMs;
          return `${instance}, after ${seconds(afterMs)}: degraded since ${store.since}, ${store.reason}`;
        },
        () => `${instance} does not say that the store is away`,
      ),
    );
    return (await Promise.all(lines)).join("\n");
  },
});

const goingOnStep = (stage: Stage): Step => ({
  title: "turns go on: the conversation returns home by either GTM, and DNS answers",
  tell: async () => {
    const { conversation, stack } = stage;
    const lines: string[] = [];
    const pools = new Set<string>();
    for (const gtm of stack.gtms) {
      const home = conversation.home();
      const { turn } = await stage.turn(LATER_PROMPT_TOKENS, gtm);
      expectTurn(turn, "pinned", (region) => region === home);
      const byName = await conversation.resolvedTo(gtm);
      expect(byName === home, `${gtm.instance} resolves its name to ${byName}`);
      pools.add(await resolve(`chat.${ZONE}`, gtm));
      lines.push(
        `${gtm.instance}: pinned ${home}, ${turn.cachedTokens} of ${turn.promptTokens} tokens from cache; its name resolves to ${home}`,
      );
    }
    expect(pools.size === 1, `chat.${ZONE} resolves to ${[...pools].join(" and ")}`);
    return `${lines.join("\n")}\nchat.${ZONE} resolves to ${[...pools].join()} at both`;
  },
});

const refusalStep = (stage: Stage): Step => ({
  title: "an order is refused, since it could not reach every GTM",
  tell: async () => {
    const region = ALL_REGIONS.find((one) => one !== stage.conversation.home()) ?? "";
    const refusals = await Promise.all(stage.stack.gtms.map((gtm) => refusalOf(gtm, region)));
    return refusals.join("\n");
  },
});

const refusalOf = async ({ instance, admin }: GtmSeat, region: string): Promise<string> => {
  const fault: unknown = await admin.drainAll(region, "the demo tries it").then(
    () => null,
    (refused) => refused,
  );
  if (!(fault instanceof AdminRefusal)) throw fault ?? new Error(`${instance} took an order that it could not keep`);
  expect(fault.status === 503, fault.message);
  return `${instance}: ${fault.message}`;
};

const wholeAgain = async ({ stack, patience }: Stage): Promise<string> => {
  let late = "";
  await patience.until(
    async () => {
      const all = await Promise.all(stack.gtms.map(({ admin }) => admin.status()));
      late = all.map(({ instance, state, reasons }) => `${instance} is ${state} (${reasons.join("; ")})`).join(", ");
      return all.every(({ state }) => state === "ready") ? true : null;
    },
    () => late,
  );
  return `${stack.gtms.map(({ instance }) => `${instance} is ready`).join(", ")}: nothing is degraded`;
};
