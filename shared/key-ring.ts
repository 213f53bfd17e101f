/**
 * Keys that follow one another, so that a change takes no moment at which two GTMs disagree: the next key is accepted
 * everywhere before it is used, and the one before it is accepted until it is dropped. Pure.
 */

export type KeyState =
  /** Accepted, and not used yet. */
  | "next"
  /** Accepted, and what is made is made with it. */
  | "current"
  /** Still accepted. */
  | "old";

export type RingKey = {
  /** 0 to 255, different in one ring. */
  readonly id: number;
  readonly state: KeyState;
  /** Epoch ms, to the second. */
  readonly madeAtMs: number;
  readonly key: Uint8Array;
};

/** One current key, at most one next, any number of old ones. */
export type KeyRing = readonly RingKey[];

/** `refused`: the ring is not in a state for it, and `why` says which and what to do. */
export type Turned =
  | { readonly kind: "turned"; readonly ring: KeyRing; readonly keys: readonly RingKey[] }
  | { readonly kind: "refused"; readonly why: string };

export const MOST_ID = 255;
const MS_PER_SECOND = 1_000;

/** @param id random, so that what keys of a lost ring signed is not taken for a forgery */
export const newRing = (id: number, madeAtMs: number, key: Uint8Array): KeyRing => [
  { id, state: "current", madeAtMs: toTheSecond(madeAtMs), key },
];

/** What is wrong with a ring as a whole; null: nothing. */
export const faultOfRing = (ring: KeyRing): string | null => {
  const ids = ring.map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) return `expected an id for each key, found ${twice} twice`;
  const [current, next] = [countOf(ring, "current"), countOf(ring, "next")];
  if (current !== 1) return `expected one current key, found ${current === 0 ? "none" : current}`;
  return next > 1 ? `expected at most one next key, found ${next}` : null;
};

/** The current key first: it signs. */
export const currentFirst = (ring: KeyRing): readonly [RingKey, ...RingKey[]] => {
  const current = ring.find(({ state }) => state === "current");
  if (current === undefined) throw new Error("a ring without a current key: faultOfRing refuses it");
  return [current, ...ring.filter((one) => one !== current)];
};

/** The first step: a key that is accepted and does not sign. @param mostKeys of the ring, the new one included */
export const withNext = (ring: KeyRing, made: Pick<RingKey, "madeAtMs" | "key">, mostKeys: number): Turned => {
  const waiting = ring.find(({ state }) => state === "next");
  if (waiting !== undefined)
    return refused(`key ${waiting.id} is waiting already; once every GTM has it, --activate it`);
  if (ring.length >= mostKeys)
    return refused(`there are ${ring.length} keys, as many as there may be; drop the old ones`);
  const next: RingKey = {
    id: freeId(ring),
    state: "next",
    madeAtMs: toTheSecond(made.madeAtMs),
    key: made.key,
  };
  return { kind: "turned", ring: [next, ...ring], keys: [next] };
};

/** The second step, for when every GTM accepts the next key. */
export const withNextActive = (ring: KeyRing): Turned => {
  const next = ring.find(({ state }) => state === "next");
  if (next === undefined) return refused("no key is waiting; without --activate one is made");
  const active: RingKey = { ...next, state: "current" };
  const others = ring.filter((one) => one !== next).map((one): RingKey => ({ ...one, state: "old" }));
  return { kind: "turned", ring: [active, ...others], keys: [active] };
};

export const withoutOld = (ring: KeyRing): Turned => {
  const old = ring.filter(({ state }) => state === "old");
  if (old.length === 0) return refused("there is no old key");
  return { kind: "turned", ring: ring.filter(({ state }) => state !== "old"), keys: old };
};

const countOf = (ring: KeyRing, wanted: KeyState): number => ring.filter(({ state }) => state === wanted).length;

const toTheSecond = (epochMs: number): number => Math.floor(epochMs / MS_PER_SECOND) * MS_PER_SECOND;

const refused = (why: string): Turned => ({ kind: "refused", why });

/** After the newest: what a dropped key signed must not name a key that we have, or it would count as forged. */
const freeId = (ring: KeyRing): number => {
  const newest = ring.reduce((a, b) => (b.madeAtMs > a.madeAtMs ? b : a), currentFirst(ring)[0]);
  const taken = new Set(ring.map(({ id }) => id));
  let id = newest.id;
  do id = (id + 1) % (MOST_ID + 1);
  while (taken.has(id));
  return id;
};
