/** The oldest entry of a map that is kept in the order of time, found without looking again at those that have gone. */

/**
 * A map remembers the holes that deleted entries leave until it is made anew, and each iteration from its beginning passes
 * them all: with fifty thousand conversations of which each turn moves one to the end, that is most of a turn's time.
 *
 * @param entries oldest first: one that is renewed is deleted and set again; no entry's time changes in its place
 * @returns the oldest now; null: there is none
 */
export const createOldest = <K, V>(
  entries: ReadonlyMap<K, V>,
  atMsOf: (value: V) => number,
): (() => readonly [key: K, value: V] | null) => {
  let cursor = entries.entries();
  let seen: { readonly key: K; readonly atMs: number } | null = null;
  return () => {
    while (entries.size > 0) {
      const value = seen === null ? undefined : entries.get(seen.key);
      if (seen !== null && value !== undefined && atMsOf(value) === seen.atMs) return [seen.key, value];
      const next = cursor.next();
      if (next.done === true) {
        cursor = entries.entries();
        seen = null;
      } else {
        const [key, found] = next.value;
        seen = { key, atMs: atMsOf(found) };
      }
    }
    return null;
  };
};
