/** A closed network of hosts with real addresses: a namespace each, one cable to a common switch, nobody else on it. */
import { type Namespaces, openNamespaces } from "#test/support/namespaces.ts";
import type { Place } from "#test/support/place.ts";

export type Host = Place & {
  /** IPv4 and IPv6, the first of each family is what it speaks from. */
  readonly addresses: readonly string[];
};

export type Network<Name extends string> = Disposable & { readonly host: (name: Name) => Host };

/** No host may have this name. */
const HUB = "switch";

/**
 * Every host reaches every address without a router: whoever has it answers for it.
 *
 * @param addresses by host; every address of the world may be used, as nothing leaves
 * @param resolver whom programs of these hosts ask for names
 * @throws {Error} where namespaces cannot be made; tests that need them fail there, and are not skipped
 */
export const makeNetwork = async <Name extends string>(
  addresses: Readonly<Record<Name, readonly string[]>>,
  resolver: string,
): Promise<Network<Name>> => {
  using stack = new DisposableStack();
  const namespaces = stack.use(await openNamespaces(resolver));
  const names = Object.keys(addresses) as Name[];
  for (const one of [HUB, ...names]) namespaces.ip(["netns", "add", one]);
  batch(namespaces, HUB, ["link add name switch type bridge", "link set switch up", "link set lo up"]);
  for (const [at, name] of names.entries()) {
    batch(namespaces, HUB, [
      `link add name port${at} type veth peer name eth0 netns ${name}`,
      `link set port${at} master switch up`,
    ]);
    batch(namespaces, name, cable(addresses[name]));
  }
  const all = stack.move();
  return {
    host: (name) => ({ ...namespaces.place(name), addresses: addresses[name] }),
    [Symbol.dispose]: () => all.dispose(),
  };
};

const cable = (addresses: readonly string[]): readonly string[] => [
  "link set lo up",
  // Without a wait for somebody else who might have these addresses.
  ...addresses.map((one) =>
    one.includes(":") ? `address add ${one}/128 dev eth0 nodad` : `address add ${one}/32 dev eth0`,
  ),
  "link set eth0 up",
  "route add default dev eth0",
  "-6 route add default dev eth0",
];

const batch = (namespaces: Namespaces, namespace: string, lines: readonly string[]): void => {
  // `ip -6` inside a batch is no command: the family is a matter of the whole call.
  const of = (isSix: boolean): string =>
    lines.flatMap((line) => (line.startsWith("-6 ") === isSix ? [line.replace("-6 ", "")] : [])).join("\n");
  namespaces.ip(["-n", namespace, "-batch", "-"], of(false));
  if (of(true) !== "") namespaces.ip(["-6", "-n", namespace, "-batch", "-"], of(true));
};
