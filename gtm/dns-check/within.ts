/** An end for everything that asks, so that a whole check ends in time whatever hangs. */
import type { Ask, Asked } from "./ask.ts";
import type { NameResolver } from "./resolver.ts";

export type Deadline = Disposable & {
  readonly ask: (ask: Ask) => Ask;
  readonly resolver: (resolver: NameResolver) => NameResolver;
};

/** @param ms from now; what is still unanswered then counts as unanswered */
export const deadlineOf = (ms: number): Deadline => {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const why = `no answer within the ${ms / 1_000} s that the whole check has`;
  const late: Asked = { kind: "failed", why, isLocal: false };
  const unknown = { kind: "unknown", why } as const;
  return {
    ask:
      (ask) =>
      (...question) =>
        Promise.race([ask(...question), over.then(() => late)]),
    resolver: ({ nameServers, addresses }) => ({
      nameServers: (zone) => Promise.race([nameServers(zone), over.then(() => unknown)]),
      addresses: (host) => Promise.race([addresses(host), over.then(() => unknown)]),
    }),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
};
