/** `dns.listen` and `dns.workers` of the configuration: where DNS is answered, and by how many threads. */
import { isIPv4, isIPv6 } from "node:net";
import { z } from "zod";

/** "0.0.0.0:53" or "[::]:53"; null: it is none. */
export const addressIn = (text: string): { readonly address: string; readonly port: number } | null => {
  const [, six, four, port = ""] = /^(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = six ?? four ?? "";
  const isAddress = six === undefined ? isIPv4(host) : isIPv6(host);
  return isAddress && Number(port) <= 65_535 ? { address: host, port: Number(port) } : null;
};

/** 0 to 2 are standard input, output and error. */
const FIRST_FD = 3;

/** An address, or "fd:3", a socket that systemd opened. */
export const DnsListen = z.string().transform((text, context) => {
  const [, fd] = /^fd:(\d{1,4})$/.exec(text) ?? [];
  if (fd !== undefined && Number(fd) >= FIRST_FD) return { fd: Number(fd) };
  const at = addressIn(text);
  if (at !== null) return at;
  const message = "must be an address with a port, such as [::]:53, or a socket that systemd passes, fd:3 and up";
  context.addIssue({ code: "custom", message });
  return z.NEVER;
});
export type DnsListen = z.output<typeof DnsListen>;

/** Threads that answer DNS; 1: the main one, which does all the rest. */
export const DnsWorkers = z.int().min(1).max(64).default(1);

/** @returns what cannot work, each with where in `dns` it stands */
export const dnsListenFaults = (
  listen: readonly DnsListen[],
  workers: number,
): readonly { readonly path: readonly (string | number)[]; readonly message: string }[] => {
  const descriptors = listen.flatMap((at, i) => ("fd" in at ? [{ fd: at.fd, i }] : []));
  const [first] = descriptors;
  const twice = descriptors.filter(({ fd }, at) => descriptors.findIndex((one) => one.fd === fd) !== at);
  return [
    ...twice.map(({ fd, i }) => ({ path: ["listen", i], message: `fd:${fd} stands here twice` })),
    ...(descriptors.length === 1 && first !== undefined
      ? [{ path: ["listen", first.i], message: "needs a second descriptor: one socket is of UDP, the other of TCP" }]
      : []),
    ...(descriptors.length > 0 && workers > 1
      ? [{ path: ["workers"], message: "each thread opens sockets of its own, so dns.listen can have no fd: above 1" }]
      : []),
  ];
};

/** @param cores that this process may use @returns sentences for the person who wrote the configuration */
export const dnsWorkersWarnings = (workers: number, cores: number): readonly string[] =>
  workers > 1 && workers > cores
    ? [
        `dns.workers is ${workers}, and this host has ${cores} ${cores === 1 ? "core" : "cores"}: more threads than cores answer no faster`,
      ]
    : [];
