/** A GTM without a datalayer behind the admin API: everything in arrays that a test can read and change. */

import { begun, drainsOf, withoutOperation } from "#gtm/datalayer/drain-orders.ts";
import { withSettled, withVerified } from "#gtm/datalayer/operations.ts";
import { standingAt, withoutOrder } from "#gtm/datalayer/orders.ts";
import { type Conversation, contextTokensOf, homeOf } from "#gtm/domain/conversation.ts";
import { movedTo } from "#gtm/domain/conversation-move.ts";
import type { OwnedConversation } from "#gtm/domain/conversation-query.ts";
import { regionOf } from "#gtm/domain/decision.ts";
import { ruleOf } from "#gtm/domain/override-rule.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { Region } from "#gtm/domain/region.ts";
import { DEFAULT_SAFETY, type SafetyLimits } from "#gtm/domain/safety-limits.ts";
import type { World } from "#gtm/domain/world.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import type { Entry, Query } from "#gtm/steering/ports.ts";
import { decisionOf } from "#gtm/steering/steer.ts";
import { turnOf } from "#gtm/steering/turn.ts";
import type { AcmeListed, AcmePort } from "#gtm/wire/admin/acme-port.ts";
import type { AgentSeen } from "#gtm/wire/admin/agents-port.ts";
import type { AdminPorts, DecisionFilter, Health, OrderWish, OtherInstance, Page } from "#gtm/wire/admin/ports.ts";
import type { TokensPort } from "#gtm/wire/admin/tokens-port.ts";
import type { DelegationChecked, DelegationFinding, ZonesPort } from "#gtm/wire/admin/zones-port.ts";
import type { AuditRecord } from "#shared/audit-record.ts";
import type { Clock } from "#shared/clock.ts";
import { ownerOf } from "#shared/conversation-record.ts";
import { OperationalError } from "#shared/errors.ts";
import { ConversationId, DecisionId, PoolName } from "#shared/ids.ts";
import type { MeasuredTurn } from "#shared/measured-turn.ts";
import type { OrdersRecord } from "#shared/records.ts";
import type { TokenRecord } from "#shared/token-record.ts";
import { aClient, aConversation, aPool, aQuery, aRegion, aWorld, MODEL, NOW_MS } from "#test/support/builders.ts";

/** 2026-11-30T04:00:00Z */
export const EPOCH_MS = Date.UTC(2026, 10, 30, 4);

export const fakeClock = (): Clock & { pass: (ms: number) => void } => {
  let passedMs = 0;
  return {
    monotonicMs: () => NOW_MS + passedMs,
    epochMs: () => EPOCH_MS + passedMs,
    pass: (ms) => {
      passedMs += ms;
    },
  };
};

export const READY: Health = {
  isReady: true,
  degradedSinceMs: null,
  reasons: [],
  degradations: [],
  savedWorldAgeMs: null,
};

/** Of a GTM that was started without a file. */
export const NO_CONFIGURATION: AdminPorts["configuration"] = {
  state: () => ({
    ...{ version: 1, source: null, isWatched: false, loadedAtMs: EPOCH_MS, hash: "0123456789abcdef" },
    ...{ sections: [], references: [], pending: [], refused: null },
  }),
  schema: () => ({ type: "object" }),
  check: () => ({ kind: "faulty", faults: [] }),
  preview: () => ({ kind: "no-file" }),
  reload: () => ({ kind: "no-file" }),
};

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** A ULID that ends in a number, so that tests can name decisions in their order. */
export const decisionId = (at: number): DecisionId =>
  DecisionId.parse(`01KB8Y0000000000000000${[15, 10, 5, 0].map((shift) => ALPHABET[(at >> shift) & 31]).join("")}`);

export type FakeWish = {
  readonly regions?: readonly Region[];
  readonly pools?: readonly Pool[];
  readonly conversations?: readonly Conversation[];
};

export type FakeGtm = {
  readonly ports: AdminPorts;
  readonly clock: ReturnType<typeof fakeClock>;
  readonly state: {
    world: World;
    orders: OrdersRecord;
    conversations: Conversation[];
    readonly entries: Entry[];
    readonly audit: (AuditRecord & { id: string })[];
    health: Health;
    others: readonly OtherInstance[];
    agents: readonly AgentSeen[];
    /** Of the delegation, as they were asked for; a test ends each. */
    readonly checks: ((findings: readonly DelegationFinding[]) => void)[];
    isStoreAway: boolean;
    limits: SafetyLimits;
    /** By which rule an order was refused, and which was passed. */
    readonly refused: string[];
    readonly overridden: string[];
    unweighed: number;
    /** What the store says to every order; null: it takes them. */
    refusal: string | null;
  };
  /** Decides a turn and remembers it, as the front door would. */
  readonly decide: (wish?: Partial<Query>) => Entry;
  /** Whoever listens hears of a decision that somebody else made. */
  readonly tell: (entry: Entry) => void;
  readonly setRegion: (id: string, wish: Partial<Region>) => void;
  /** A gateway measured these. */
  readonly measure: (turns: readonly MeasuredTurn[]) => void;
};

export const REGIONS = [
  aRegion("frankfurt"),
  aRegion("paris", { placement: { backlogMs: 400 } }),
  aRegion("singapore", { jurisdiction: "sg", placement: null }),
];

export const fakeGtm = (wish: FakeWish = {}): FakeGtm => {
  const regions = wish.regions ?? REGIONS;
  const pools = wish.pools ?? [aPool(regions)];
  const clock = fakeClock();
  const listeners = new Set<(entry: Entry) => void>();
  const measuring = new Set<(turns: readonly MeasuredTurn[]) => void>();
  const state: FakeGtm["state"] = {
    world: aWorld(regions, { epochAheadMs: EPOCH_MS - NOW_MS }),
    orders: { v: 1, rev: 0, regions: [], overrides: [] },
    conversations: [...(wish.conversations ?? [aConversation({ home: "frankfurt", contextTokens: 20_000 })])],
    entries: [],
    audit: [],
    health: READY,
    others: [],
    agents: [],
    checks: [],
    isStoreAway: false,
    limits: { ...DEFAULT_SAFETY },
    refused: [],
    overridden: [],
    unweighed: 0,
    refusal: null,
  };
  let decided = 0;
  let named = 0;
  const mustHaveStore = (): void => {
    if (state.isStoreAway) throw new OperationalError("GTM_STORE_UNREACHABLE", "no answer within 50 ms");
  };
  const setRegion: FakeGtm["setRegion"] = (id, change) => {
    const { world } = state;
    state.world = {
      ...world,
      version: world.version + 1,
      regions: world.regions.map((region) => (region.id === id ? { ...region, ...change } : region)),
    };
  };
  const putOrders = (orders: OrdersRecord["regions"]): OrdersRecord => {
    state.orders = { ...state.orders, rev: state.orders.rev + 1, regions: orders };
    return state.orders;
  };
  const putOverrides = (overrides: OrdersRecord["overrides"]): OrdersRecord => {
    state.orders = { ...state.orders, rev: state.orders.rev + 1, overrides };
    const standing = standingAt(state.orders, clock.epochMs()).overrides;
    state.world = { ...state.world, overrides: standing.flatMap((one) => ruleOf(one) ?? []) };
    return state.orders;
  };
  const returned = new Map<string, OrdersRecord["regions"][number]>();
  const settle = (orders: OrdersRecord): OrdersRecord => {
    const settled = withSettled(orders, clock.epochMs());
    for (const order of settled.regions) if (order.admin === "active") returned.set(order.region, order);
    state.orders = { ...settled, regions: settled.regions.filter(({ admin }) => admin !== "active") };
    state.world = { ...state.world, drains: drainsOf(standingAt(state.orders, clock.epochMs())) };
    return state.orders;
  };
  const isAsSeen = (region: string, seenAtMs: number | null): boolean => {
    const standing = standingAt(state.orders, clock.epochMs()).regions.find((one) => one.region === region);
    return seenAtMs === null || seenAtMs === (standing?.orderedAtMs ?? 0);
  };
  const without = (region: string) => state.orders.regions.filter((order) => order.region !== region);

  const ports: AdminPorts = {
    steering: {
      world: () => state.world,
      locate: (subnet) => aClient("frankfurt", { subnet }),
      findConversation: (id) => state.conversations.find((one) => one.id === id) ?? null,
    },
    instances: { own: () => ({ boot: "boot-a", config: { regions: "0011" } }), others: () => state.others },
    agents: () => state.agents,
    zones: fakeZones(state.checks, clock),
    policy: DEFAULT_POLICY,
    policyAt: () => DEFAULT_POLICY,
    configuration: NO_CONFIGURATION,
    safety: {
      limits: () => state.limits,
      refused: (rule) => void state.refused.push(rule),
      overridden: (rule) => void state.overridden.push(rule),
      unweighed: () => {
        state.unweighed += 1;
      },
    },
    pools,
    models: [{ id: MODEL, aliases: ["llama"], weightBytes: 141e9, coldStartMs: 80_000 }],
    decisions: {
      list: ({ limit, cursor, ...filter }) =>
        pageOf(state.entries.filter(matching(filter)).toReversed(), limit, cursor),
      get: (id) => state.entries.find(({ decision }) => decision.id === id) ?? null,
      subscribe: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    conversations: {
      list: async ({ region, limit, cursor }) => {
        mustHaveStore();
        return pageOf(
          state.conversations.filter((one) => region === null || homeOf(one) === region),
          limit,
          cursor,
        );
      },
      search: async (query) => {
        mustHaveStore();
        if (query.cursor !== null && !/^\d+$/.test(query.cursor)) return null;
        const found = state.conversations.filter(
          (one) =>
            (query.region === null || homeOf(one) === query.region) &&
            (query.model === null || one.model === query.model) &&
            (query.tenantTag === null || query.tenantTag === owned(one).owner.tenantTag) &&
            (query.poolTag === null || query.poolTag === owned(one).owner.poolTag) &&
            contextTokensOf(one) >= query.minTokens &&
            clock.monotonicMs() - one.lastTurnAtMs >= query.minIdleMs,
        );
        if (query.sort === "tokens") found.sort((a, b) => contextTokensOf(b) - contextTokensOf(a));
        const { items, nextCursor } = pageOf(found, query.limit, query.cursor);
        return { items: items.map(owned), nextCursor, examined: found.length };
      },
      owned: async (id) => {
        mustHaveStore();
        const found = state.conversations.find((one) => one.id === id);
        return found === undefined ? null : owned(found);
      },
      move: async (id, region, rev) => {
        mustHaveStore();
        const at = state.conversations.findIndex((one) => one.id === id);
        const before = state.conversations[at];
        if (before === undefined) return { kind: "unknown" };
        if (rev !== null && before.rev !== rev) return { kind: "changed" };
        const conversation = { ...movedTo(before, region), rev: before.rev + 1 };
        state.conversations = state.conversations.with(at, conversation);
        return { kind: "moved", conversation };
      },
      get: async (id) => {
        mustHaveStore();
        return state.conversations.find((one) => one.id === id) ?? null;
      },
      release: async (id, rev) => {
        mustHaveStore();
        const found = state.conversations.find((one) => one.id === id);
        if (found === undefined) return "unknown";
        if (rev !== null && found.rev !== rev) return "changed";
        state.conversations = state.conversations.filter((one) => one !== found);
        return "released";
      },
    },
    orders: {
      current: () => standingAt(state.orders, clock.epochMs()),
      record: () => ({
        ...state.orders,
        regions: [
          ...state.orders.regions,
          ...[...returned.values()].filter((one) => without(one.region).length === state.orders.regions.length),
        ],
      }),
      order: async (
        { region, admin, comment, actor, expiresAtMs, schedule, operation }: OrderWish,
        seenAtMs = null,
      ) => {
        mustHaveStore();
        if (state.refusal !== null) throw new OperationalError("GTM_STORE_REFUSED", state.refusal);
        if (!isAsSeen(region, seenAtMs)) return null;
        setRegion(region, { admin });
        const orderedAtMs = clock.epochMs();
        putOrders([
          ...without(region),
          {
            ...{ region, admin, comment, actor, orderedAtMs, expiresAtMs },
            ...(schedule === null ? {} : { schedule }),
            ...(operation === null ? {} : { operation: operation.id }),
          },
        ]);
        return settle(begun(state.orders, operation));
      },
      undo: async (region, actor, seenAtMs = null) => {
        mustHaveStore();
        if (!isAsSeen(region, seenAtMs)) return null;
        setRegion(region, { admin: "active" });
        return settle(withoutOrder(state.orders, { region, actor, atMs: clock.epochMs() }));
      },
      override: async (override, operation) => {
        mustHaveStore();
        putOverrides([...state.orders.overrides, override]);
        return settle(begun(state.orders, operation));
      },
      cancelOperation: async (id, by) => {
        mustHaveStore();
        const cancelled = withoutOperation(state.orders, id, { ...by, atMs: clock.epochMs() });
        if (cancelled === null) return null;
        for (const { region, admin } of cancelled.regions) setRegion(region, { admin });
        return settle(cancelled);
      },
      verifyOperation: async (id) => {
        mustHaveStore();
        return settle(withVerified(state.orders, id, clock.epochMs()));
      },
      changeOverride: async (id, { actor, comment, expiresAtMs, share, seenAtMs }) => {
        mustHaveStore();
        const before = standingAt(state.orders, clock.epochMs()).overrides.find((one) => one.id === id);
        if (before === undefined || (seenAtMs !== null && seenAtMs !== before.orderedAtMs)) return null;
        const changed = {
          ...before,
          actor,
          comment: comment ?? before.comment,
          ...(share === null ? {} : { share }),
          expiresAtMs,
          orderedAtMs: clock.epochMs(),
        };
        return putOverrides([...state.orders.overrides.filter((one) => one.id !== id), changed]);
      },
    },
    acme: fakeAcme(mustHaveStore),
    measuredTurns: {
      subscribe: (listener) => {
        measuring.add(listener);
        return () => measuring.delete(listener);
      },
    },
    audit: {
      record: (record) => void state.audit.push({ ...record, id: String(state.audit.length) }),
      list: async ({ limit, cursor, actor }) => {
        mustHaveStore();
        const theirs = state.audit.filter((one) => actor === null || one.actor === actor);
        return pageOf(theirs.toReversed(), limit, cursor);
      },
    },
    tokens: fakeTokens(mustHaveStore, clock),
    readLabel: () => ({ conversation: ConversationId.parse("0000000000000"), pinnedTo: null }),
    newDecisionId: () => decisionId(1_000_000 + named++),
    health: () => state.health,
    instance: "gtm-1",
    version: "0.1.0",
  };
  return {
    ports,
    clock,
    state,
    setRegion,
    measure: (turns) => {
      for (const listener of measuring) listener(turns);
    },
    tell: (entry) => {
      for (const listener of listeners) listener(entry);
    },
    decide: (change = {}) => {
      decided += 1;
      const [pool = aPool(regions)] = pools;
      const query = aQuery(pool, { id: decisionId(decided), receivedAtMs: clock.monotonicMs(), ...change });
      const conversation = state.conversations.find((one) => one.id === query.conversationId) ?? null;
      const turn = turnOf(query, aClient("frankfurt"), conversation, state.world, DEFAULT_POLICY);
      const decision = decisionOf(query, turn, state.world, DEFAULT_POLICY);
      const entry: Entry = { query, decision, answer: null, answered: { value: 1 } };
      state.entries.push(entry);
      for (const listener of listeners) listener(entry);
      return entry;
    },
  };
};

/** As the store keeps them, without a store. */
const fakeTokens = (mustHaveStore: () => void, clock: Clock): TokensPort => {
  let tokens: readonly TokenRecord[] = [];
  const used = new Map<string, number>();
  return {
    current: () => tokens,
    readAgoMs: () => 0,
    add: async (token) => {
      mustHaveStore();
      tokens = [...tokens, token];
      return tokens.length <= MOST_FAKE_TOKENS;
    },
    change: async (id, change, seenAtMs) => {
      mustHaveStore();
      const before = tokens.find((one) => one.id === id);
      if (seenAtMs !== null && seenAtMs !== before?.changedAtMs) return null;
      if (before === undefined || before.revokedAtMs !== null || before.expiresAtMs <= clock.epochMs()) return null;
      const after = { ...before, ...change, changedAtMs: before.changedAtMs + 1 };
      tokens = tokens.map((one) => (one.id === id ? after : one));
      return after;
    },
    used: (id) => void used.set(id, clock.epochMs()),
    lastUsed: async (ids) => new Map([...used].filter(([id]) => ids.includes(id))),
  };
};
const MOST_FAKE_TOKENS = 100;

/** One zone with a record of each kind. */
const fakeZones = (checks: FakeGtm["state"]["checks"], clock: Clock): ZonesPort => {
  let checked: DelegationChecked | null = null;
  const servers = ["ns1", "ns2"].map((name, at) => ({
    name: `${name}.llm.test`,
    ipv4: [`192.0.2.${at + 1}`],
    ipv6: [],
  }));
  const fixed = { ttlSeconds: 60, steered: null, how: null };
  const steered = { pool: "chat", model: null, family: "ipv4" } as const;
  return {
    zones: () => [{ name: "llm.test", serial: 1, rname: "hostmaster.llm.test", nameServers: servers }],
    records: (zone) =>
      zone !== "llm.test"
        ? null
        : [
            { ...fixed, name: "llm.test", kind: "zone", type: "NS", values: ["ns1.llm.test.", "ns2.llm.test."] },
            {
              name: "chat.llm.test",
              kind: "pool",
              type: "A",
              ttlSeconds: null,
              values: [],
              steered,
              how: "By decision.",
            },
            { ...fixed, name: "paris.r.llm.test", kind: "region", type: "A", values: ["192.0.2.10"] },
          ],
    delegation: (zone) =>
      zone === "llm.test"
        ? [{ name: "bind", title: "Zone file", how: "Add it.", text: "llm.test. NS ns1.llm.test.\n" }]
        : null,
    checked: () => checked,
    isChecking: () => checks.length > 0 && checked === null,
    check: async () => {
      const atMs = clock.epochMs();
      const findings = await new Promise<readonly DelegationFinding[]>((resolve) => checks.push(resolve));
      checked = { atMs, tookMs: clock.epochMs() - atMs, findings };
      return checked;
    },
  };
};

export const CHALLENGE_NAMES: readonly string[] = ["chat", "c", "m", "spare"].map(
  (name) => `_acme-challenge.${name}.llm.test`,
);

/** One value a name; `spare` is full. */
const fakeAcme = (mustHaveStore: () => void): AcmePort => {
  const listed = new Map<string, AcmeListed>();
  return {
    list: () => [...listed.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    present: async ({ name, value, actor, forMs }, isDryRun = false) => {
      mustHaveStore();
      if (!CHALLENGE_NAMES.includes(name)) return { kind: "not-ours" };
      if (name.includes("spare")) return { kind: "full", of: "name" };
      if (!isDryRun) listed.set(name, { name, values: [{ value, actor, expiresInMs: forMs }] });
      return { kind: "presented" };
    },
    cleanup: async (name, choice, isDryRun = false) => {
      mustHaveStore();
      if (!CHALLENGE_NAMES.includes(name)) return { kind: "not-ours" };
      const there = (listed.get(name)?.values ?? []).filter(
        ({ value }) => choice.value === null || value === choice.value,
      );
      const own = there.filter(({ actor }) => choice.actor === null || actor === choice.actor);
      if (own.length > 0 && !isDryRun) listed.delete(name);
      return { kind: "cleaned", values: own.length, others: there.length - own.length };
    },
  };
};

const matching =
  (filter: DecisionFilter) =>
  ({ query, decision }: Entry): boolean =>
    (filter.pool === null || query.pool.name === filter.pool) &&
    (filter.region === null || regionOf(decision.verdict) === filter.region) &&
    (filter.verdict === null || decision.verdict.kind === filter.verdict) &&
    (filter.channel === null || query.channel === filter.channel) &&
    (filter.conversation === null || query.conversationId === filter.conversation);

/** All of one tenant's, asked for in the first pool. */
const owned = (conversation: Conversation): OwnedConversation => ({
  conversation,
  owner: ownerOf("acme", PoolName.parse("chat")),
});

const pageOf = <Item>(all: readonly Item[], limit: number, cursor: string | null): Page<Item> => {
  const start = cursor === null ? 0 : Number(cursor);
  const next = start + limit;
  return { items: all.slice(start, next), nextCursor: next < all.length ? String(next) : null };
};
