/** A network namespace in which every address is this host's own, so that answers to forged addresses go nowhere else. */
import { spawnSync } from "node:child_process";

export type NetworkNamespace = Disposable & { readonly name: string };

/** @returns null where namespaces cannot be made: without root, without iproute2, in some containers */
export const makeNamespace = (): NetworkNamespace | null => {
  const name = `gtm-test-${process.pid}`;
  const ip = (...words: readonly string[]): boolean => spawnSync("ip", words).status === 0;
  if (!ip("netns", "add", name)) return null;
  const inside = (...words: readonly string[]): boolean => ip("-n", name, ...words);
  const isReady = inside("link", "set", "lo", "up") && inside("route", "add", "local", "0.0.0.0/0", "dev", "lo");
  const remove = (): void => {
    ip("netns", "delete", name);
  };
  if (isReady) return { name, [Symbol.dispose]: remove };
  remove();
  return null;
};
