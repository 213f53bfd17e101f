/**
 * Maps that together forget what was not asked for lately: two generations, so that a hit is one look-up and relinks
 * nothing. Written here because measured better on the path that every query takes (test/bench/dns.bench.ts).
 */

export type Generations<V> = {
  /** @param map which of the maps, 0 and up */
  readonly get: (map: number, key: number) => V | undefined;
  /** @param key not there yet */
  readonly add: (map: number, key: number, value: V) => void;
};

/**
 * @param most weight kept, in all maps together; what was got among the last half of that much new is not forgotten
 * @param weightOf an entry, when it is added
 */
export const createGenerations = <V>(most: number, weightOf: (value: V) => number = () => 1): Generations<V> => {
  let young: Map<number, V>[] = [];
  let old: Map<number, V>[] = [];
  let added = 0;
  const add = (map: number, key: number, value: V): void => {
    young[map] ??= new Map();
    young[map].set(key, value);
    added += weightOf(value);
    if (added * 2 < most) return;
    old = young;
    young = [];
    added = 0;
  };
  return {
    get: (map, key) => {
      const found = young[map]?.get(key);
      if (found !== undefined) return found;
      const older = old[map]?.get(key);
      if (older !== undefined) add(map, key, older);
      return older;
    },
    add,
  };
};
