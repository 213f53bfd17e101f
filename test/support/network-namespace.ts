/** A network namespace in which every address is this host's own, so that answers to forged addresses go nowhere else. */
import { openNamespaces } from "./namespaces.ts";
import type { Place } from "./place.ts";

export type NetworkNamespace = Disposable & Place;

const NAME = "every-address";

/** @throws {Error} where none can be made */
export const makeNamespace = async (): Promise<NetworkNamespace> => {
  using stack = new DisposableStack();
  const namespaces = stack.use(await openNamespaces("127.0.0.1"));
  namespaces.ip(["netns", "add", NAME]);
  namespaces.ip(["-n", NAME, "link", "set", "lo", "up"]);
  namespaces.ip(["-n", NAME, "route", "add", "local", "0.0.0.0/0", "dev", "lo"]);
  const all = stack.move();
  return { ...namespaces.place(NAME), [Symbol.dispose]: () => all.dispose() };
};
