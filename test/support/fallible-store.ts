/** A store that a test can take away and bring back, or let fail in parts: while it is away nothing is answered and no message arrives. */
import { OperationalError } from "#shared/errors.ts";
import type { Store } from "#shared/store.ts";

export type FallibleStore = Store & {
  isAway: boolean;
  /** Calls so far, by operation. */
  readonly calls: Record<string, number>;
  /** Runs before an operation is done; may wait, so that a test can be slow or come first. */
  before: (operation: string, key: string) => Promise<void> | void;
  /** What fails of it while the rest works: `lost`, as a slot without a server; `refused`, as by a full memory or a rule. */
  fault: (operation: string, key: string) => "lost" | "refused" | null;
};

/** What changes something: what a store that is full refuses. */
export const WRITES: readonly string[] = ["put", "setIfAbsent", "compareAndSet", "indexAdd", "append"];

export const createFallibleStore = (inner: Store): FallibleStore => {
  const guarded =
    <Args extends readonly unknown[], Result>(operation: string, act: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      store.calls[operation] = (store.calls[operation] ?? 0) + 1;
      await store.before(operation, String(args[0]));
      if (store.isAway)
        throw new OperationalError("GTM_STORE_UNREACHABLE", `${operation}: the test took the store away`);
      const fault = store.fault(operation, String(args[0]));
      if (fault === "lost") throw new OperationalError("GTM_STORE_UNREACHABLE", `${operation}: no server for this key`);
      if (fault === "refused") throw new OperationalError("GTM_STORE_REFUSED", `${operation}: not done`);
      return act(...args);
    };
  const store: FallibleStore = {
    isAway: false,
    calls: {},
    before: () => {},
    fault: () => null,
    get: guarded("get", inner.get),
    getMany: guarded("getMany", inner.getMany),
    put: guarded("put", inner.put),
    setIfAbsent: guarded("setIfAbsent", inner.setIfAbsent),
    compareAndSet: guarded("compareAndSet", inner.compareAndSet),
    remove: guarded("remove", inner.remove),
    indexAdd: guarded("indexAdd", inner.indexAdd),
    indexRemove: guarded("indexRemove", inner.indexRemove),
    indexRange: guarded("indexRange", inner.indexRange),
    indexTop: guarded("indexTop", inner.indexTop),
    indexTrim: guarded("indexTrim", inner.indexTrim),
    append: guarded("append", inner.append),
    newest: guarded("newest", inner.newest),
    announce: guarded("announce", inner.announce),
    subscribe: guarded("subscribe", (channel: string, onMessage: (message: string) => void) =>
      inner.subscribe(channel, (message) => {
        if (!store.isAway) onMessage(message);
      }),
    ),
    isUp: () => !store.isAway && inner.isUp(),
    close: inner.close,
  };
  return store;
};
