/** The story's step in which Redis is back: how long until it holds again what it lost, and the GTMs are one again. */
import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { OperationalError } from "#shared/errors.ts";
import { ConversationId } from "#shared/ids.ts";
import { conversationKey, ordersKey } from "#shared/keys.ts";
import { ConversationRecord } from "#shared/packed-conversation.ts";
import { OrdersRecord } from "#shared/records.ts";
import type { Store } from "#shared/store.ts";
import { resolve } from "./conversation.ts";
import { expect, seconds } from "./expectation.ts";
import { ZONE } from "./places.ts";
import type { Outage } from "./redis.ts";
import type { Stage, Step } from "./stage.ts";

export const returnStep = (
  stage: Stage,
  { store, outage, title }: { readonly store: Store; readonly outage: Outage; readonly title: string },
): Step => ({
  title: `${title}: orders and pins are in it, and the GTMs are one`,
  tell: async () => {
    const orders = await ordersStanding(stage);
    const { conversation, first, patience } = stage;
    const home = conversation.home();
    const decision = await first.admin.decision(conversation.lastTurn().decision);
    const id = ConversationId.parse(decision.conversation?.id);
    await outage.end();
    const backAtMs = performance.now();
    const timed = async (what: string, look: () => Promise<boolean>): Promise<string> => {
      await patience.until(
        async () => ((await look()) ? true : null),
        () => `not seen: ${what}`,
      );
      return `${seconds(performance.now() - backAtMs)}  ${what}`;
    };
    const lines = await Promise.all([
      timed(`in Redis stand the orders of before: ${orders.join(", ")}`, async () =>
        isDeepStrictEqual(ordersIn(await readFrom(store, ordersKey(), OrdersRecord)), orders),
      ),
      timed(`in Redis stands the conversation's home: ${home}`, async () => {
        const record = await readFrom(store, conversationKey(id), ConversationRecord);
        return record?.h[0]?.[0] === home;
      }),
      timed("every living region has reported since, to every GTM", () =>
        haveReported(stage, performance.now() - backAtMs),
      ),
      timed("no GTM says that the store, orders, pins or reports are degraded", () => isStoreWhole(stage)),
      timed("redirect and DNS say the same on every GTM", () => isAlike(stage, home)),
    ]);
    return lines.toSorted().join("\n");
  },
});

/** As every GTM knows them while Redis is away. */
const ordersStanding = async ({ stack }: Stage): Promise<readonly string[]> => {
  const known = await Promise.all(
    stack.gtms.map(async ({ admin }) =>
      (await admin.regions())
        .filter((one) => one.admin !== "active")
        .map((one) => `${one.id} ${one.admin}`)
        .toSorted(),
    ),
  );
  const [orders = []] = known;
  expect(orders.length > 0, "no order stands");
  expect(
    known.every((one) => isDeepStrictEqual(one, orders)),
    `the GTMs know ${known.join(" and ")}`,
  );
  return orders;
};

const ordersIn = (record: OrdersRecord | null): readonly string[] =>
  (record?.regions ?? [])
    .filter(({ admin }) => admin !== "active")
    .map(({ region, admin }) => `${region} ${admin}`)
    .toSorted();

/** null: nothing stands there, or it cannot be read yet. */
const readFrom = async <Schema extends z.ZodType>(store: Store, key: string, schema: Schema) => {
  try {
    const stored = await store.get(key);
    return stored === null ? null : (schema.safeParse(JSON.parse(stored.value)).data ?? null);
  } catch (fault) {
    if (fault instanceof OperationalError) return null;
    throw fault;
  }
};

/** A region that is dead cannot. @param withinMs since Redis is back; ages that stood still meanwhile do not count */
const haveReported = async ({ stack }: Stage, withinMs: number): Promise<boolean> => {
  const all = await Promise.all(
    stack.gtms.map(async ({ admin }) => ({ regions: await admin.regions(), status: await admin.status() })),
  );
  return all.every(
    ({ regions, status }) =>
      status.isStoreUp &&
      !status.world.areAgesFrozen &&
      regions.every(({ health, reportAgeMs }) => health === "unhealthy" || (reportAgeMs ?? withinMs) < withinMs),
  );
};

/** A region is still dead, which is no fault of the store. */
const isStoreWhole = async ({ stack }: Stage): Promise<boolean> => {
  const all = await Promise.all(stack.gtms.map(({ admin }) => admin.status()));
  return all.every(({ isStoreUp, degradations }) => isStoreUp && degradations.every(({ what }) => what === "regions"));
};

const isAlike = async ({ stack, conversation }: Stage, home: string): Promise<boolean> => {
  const answers = await Promise.all(
    stack.gtms.map(async (gtm) => ({
      redirect: await conversation.redirectedTo(gtm),
      label: await conversation.resolvedTo(gtm),
      pool: await resolve(`chat.${ZONE}`, gtm),
    })),
  );
  return answers.every((one) => one.redirect === home && one.label === home && one.pool === answers[0]?.pool);
};
