/** What demos write into a Redis and does not expire: refused where others are at work, taken away before and after. */
import { setTimeout as sleep } from "node:timers/promises";
import { jsonOrNull } from "#gtm/datalayer/json-or-null.ts";
import { AuditRecord } from "#shared/audit-record.ts";
import { OperationalError } from "#shared/errors.ts";
import { AgentId, InstanceId } from "#shared/ids.ts";
import {
  AUDIT_CAP,
  agentsKey,
  auditKey,
  decisionsKey,
  heldKey,
  instancesKey,
  ordersKey,
  reportKey,
  sentKey,
  sizesKey,
} from "#shared/keys.ts";
import { OrdersRecord } from "#shared/records.ts";
import type { Store } from "#shared/store.ts";
import { SITES, type Site } from "./places.ts";
import { agentIdOf, DEMO_ACTOR, INSTANCES } from "./settings.ts";

/** A GTM that was killed is taken for alive for five seconds more. */
const WAIT_FOR_OTHERS_MS = 7_000;
const LOOK_EVERY_MS = 250;
const EVERYTHING = [0, Number.MAX_SAFE_INTEGER] as const;

/**
 * @param patienceMs how long those who seem to live are waited for; 7 s suffice for a GTM that was killed
 * @returns what an earlier demo had left and was taken away, a phrase each
 * @throws {OperationalError} DEMO_REDIS_UNUSABLE where GTMs, agents or orders that are not a demo's are in it; what the store throws
 */
export const moveIn = async (store: Store, patienceMs = WAIT_FOR_OTHERS_MS): Promise<readonly string[]> => {
  await waitForOthers(store, patienceMs);
  const left = await ordersIn(store);
  await moveOut(store);
  return left;
};

/** Nothing of the demo may run any more. @throws {OperationalError} what the store throws */
export const moveOut = async (store: Store): Promise<void> => {
  await store.remove(ordersKey());
  for (const site of SITES) {
    await store.remove(heldKey(site.region));
    await store.remove(sizesKey(site.region));
    await store.indexRemove(agentsKey(site.region), agentIdOf(site));
  }
  for (const instance of INSTANCES) {
    await store.remove(decisionsKey(instance));
    await store.indexRemove(instancesKey(), instance);
  }
  if (await isAuditOfDemos(store)) await store.remove(auditKey());
};

/** An entry of anybody else keeps the whole of it: nobody takes single ones out of an audit. */
const isAuditOfDemos = async (store: Store): Promise<boolean> => {
  const own: readonly string[] = INSTANCES;
  const entries = await store.newest(auditKey(), AUDIT_CAP);
  return entries.every(({ value }) => own.includes(AuditRecord.safeParse(jsonOrNull(value)).data?.instance ?? ""));
};

const waitForOthers = async (store: Store, patienceMs: number): Promise<void> => {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const others = await othersIn(store);
    if (others.length === 0) return;
    if (performance.now() >= deadlineMs) {
      throw new OperationalError("DEMO_REDIS_UNUSABLE", `in this Redis others are at work: ${others.join(", ")}`);
    }
    await sleep(LOOK_EVERY_MS);
  }
};

/** GTMs that live, and agents that report for a region of the demo and are not called like the demo's. */
const othersIn = async (store: Store): Promise<readonly string[]> => {
  const others: string[] = [];
  for (const { member } of await store.indexRange(instancesKey(), ...EVERYTHING)) {
    const instance = InstanceId.safeParse(member).data;
    if (instance !== undefined && (await store.get(sentKey(instance))) !== null) others.push(`GTM ${instance}`);
  }
  for (const site of SITES) {
    for (const { member } of await store.indexRange(agentsKey(site.region), ...EVERYTHING)) {
      if (await reports(store, site, member)) others.push(`edge agent ${member} of ${site.region}`);
    }
  }
  return others;
};

const reports = async (store: Store, site: Site, member: string): Promise<boolean> => {
  const agent = AgentId.safeParse(member).data;
  if (agent === undefined || agent === agentIdOf(site)) return false;
  return (await store.get(reportKey(site.region, agent))) !== null;
};

/** @returns what demos ordered and nobody took back. @throws {OperationalError} where somebody else ordered something */
const ordersIn = async (store: Store): Promise<readonly string[]> => {
  const stored = await store.get(ordersKey());
  if (stored === null) return [];
  const { data } = OrdersRecord.safeParse(jsonOrNull(stored.value));
  if (data === undefined) throw ordersOfOthers("orders of another version");
  const standing = data.regions.filter(({ admin }) => admin !== "active");
  const phraseOf = ({ region, admin, actor }: (typeof standing)[number]): string => `${region} ${admin} by ${actor}`;
  const foreign = standing.filter(({ actor }) => actor !== DEMO_ACTOR);
  if (foreign.length > 0) throw ordersOfOthers(foreign.map(phraseOf).join(", "));
  const overrides = data.overrides.filter(({ actor, expiresAtMs }) => actor !== DEMO_ACTOR && expiresAtMs > Date.now());
  if (overrides.length > 0) throw ordersOfOthers(`${overrides.length} overrides`);
  return standing.map(phraseOf);
};

const ordersOfOthers = (what: string): OperationalError =>
  new OperationalError("DEMO_REDIS_UNUSABLE", `in this Redis stand orders that no demo gave: ${what}`);
