/** Virtual time: what is due happens in order, and the time between does not pass. */

export type Agenda = {
  readonly nowMs: () => number;
  /** What is due at the same moment happens in the order in which it was asked for. @param atMs not before now */
  readonly at: (atMs: number, act: () => void) => void;
  /** Everything that is due up to `ms`, and what that asks for. */
  readonly runUntil: (ms: number) => void;
  /** How many acts there have been. */
  readonly events: () => number;
};

type Item = { readonly atMs: number; readonly order: number; readonly act: () => void };

export const createAgenda = (): Agenda => {
  const heap: Item[] = [];
  let nowMs = 0;
  let order = 0;
  let events = 0;
  return {
    nowMs: () => nowMs,
    events: () => events,
    at: (atMs, act) => {
      if (atMs < nowMs) throw new RangeError(`${atMs} ms is in the past: it is ${nowMs} ms`);
      order += 1;
      push(heap, { atMs, order, act });
    },
    runUntil: (ms) => {
      for (let next = heap[0]; next !== undefined && next.atMs <= ms; next = heap[0]) {
        pop(heap);
        nowMs = next.atMs;
        events += 1;
        next.act();
      }
      nowMs = Math.max(nowMs, ms);
    },
  };
};

const isBefore = (a: Item, b: Item): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

const push = (heap: Item[], item: Item): void => {
  let at = heap.length;
  heap.push(item);
  while (at > 0) {
    const above = (at - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || !isBefore(item, parent)) break;
    heap[at] = parent;
    at = above;
  }
  heap[at] = item;
};

const pop = (heap: Item[]): void => {
  const item = heap.pop();
  if (item === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    const left = heap[2 * at + 1];
    const right = heap[2 * at + 2];
    const child = right !== undefined && left !== undefined && isBefore(right, left) ? right : left;
    if (child === undefined || !isBefore(child, item)) break;
    heap[at] = child;
    at = child === left ? 2 * at + 1 : 2 * at + 2;
  }
  heap[at] = item;
};
