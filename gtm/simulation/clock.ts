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

/**
 * A binary heap in columns: what is compared lies side by side, so that ordering thousands of acts by their times does not
 * fetch each of them from wherever it was made.
 */
type Heap = { readonly times: number[]; readonly orders: number[]; readonly acts: (() => void)[] };

export const createAgenda = (): Agenda => {
  const heap: Heap = { times: [], orders: [], acts: [] };
  let nowMs = 0;
  let order = 0;
  let events = 0;
  return {
    nowMs: () => nowMs,
    events: () => events,
    at: (atMs, act) => {
      if (atMs < nowMs) throw new RangeError(`${atMs} ms is in the past: it is ${nowMs} ms`);
      order += 1;
      push(heap, atMs, order, act);
    },
    runUntil: (ms) => {
      for (;;) {
        const nextMs = heap.times[0];
        const act = heap.acts[0];
        if (nextMs === undefined || act === undefined || nextMs > ms) break;
        pop(heap);
        nowMs = nextMs;
        events += 1;
        act();
      }
      nowMs = Math.max(nowMs, ms);
    },
  };
};

const push = (heap: Heap, atMs: number, order: number, act: () => void): void => {
  const { times } = heap;
  let at = times.length;
  // Its order is the last of all: it comes before none that is due at the same time.
  while (at > 0) {
    const above = (at - 1) >> 1;
    if (atMs >= (times[above] ?? 0)) break;
    move(heap, above, at);
    at = above;
  }
  set(heap, at, atMs, order, act);
};

const pop = (heap: Heap): void => {
  const atMs = heap.times.pop();
  const order = heap.orders.pop();
  const act = heap.acts.pop();
  const length = heap.times.length;
  if (atMs === undefined || order === undefined || act === undefined || length === 0) return;
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    if (left >= length) break;
    const child = left + 1 < length && isBefore(heap, left + 1, left) ? left + 1 : left;
    const childMs = heap.times[child] ?? 0;
    if (childMs > atMs || (childMs === atMs && (heap.orders[child] ?? 0) > order)) break;
    move(heap, child, at);
    at = child;
  }
  set(heap, at, atMs, order, act);
};

const isBefore = ({ times, orders }: Heap, a: number, b: number): boolean => {
  const [aMs, bMs] = [times[a] ?? 0, times[b] ?? 0];
  return aMs < bMs || (aMs === bMs && (orders[a] ?? 0) < (orders[b] ?? 0));
};

const move = (heap: Heap, from: number, to: number): void =>
  set(heap, to, heap.times[from] ?? 0, heap.orders[from] ?? 0, heap.acts[from] ?? NOTHING);

const set = ({ times, orders, acts }: Heap, at: number, atMs: number, order: number, act: () => void): void => {
  times[at] = atMs;
  orders[at] = order;
  acts[at] = act;
};

const NOTHING = (): void => {};
