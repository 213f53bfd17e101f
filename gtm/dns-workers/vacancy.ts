/**
 * Whether an address is anybody's: sockets that share a port do so with every process of the same user, so a second GTM
 * would take half of the first one's queries and nobody would be told.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Listen, ListenAddress } from "#gtm/wire/dns/listen.ts";
import { OperationalError } from "#shared/errors.ts";

/** @throws {OperationalError} GTM_LISTEN_FAILED, for the first that is taken */
export const requireVacant = async (listen: readonly Listen[]): Promise<void> => {
  for (const at of listen) {
    // Any free port is one that nobody has; descriptors are refused by the configuration's checks.
    if ("fd" in at || at.port === 0) continue;
    await trying(`udp ${at.address} port ${at.port}`, () => tryUdp(at));
    await trying(`tcp ${at.address} port ${at.port}`, () => tryTcp(at));
  }
};

const tryUdp = async ({ address, port }: ListenAddress): Promise<void> => {
  const isIpv6 = address.includes(":");
  const socket = createSocket({ type: isIpv6 ? "udp6" : "udp4", ipv6Only: isIpv6 });
  try {
    const listening = once(socket, "listening");
    socket.bind(port, address);
    await listening;
  } finally {
    socket.close();
  }
};

const tryTcp = async ({ address, port }: ListenAddress): Promise<void> => {
  const server = createServer();
  const listening = once(server, "listening");
  server.listen({ host: address, port, ipv6Only: address.includes(":") });
  await listening;
  const closed = once(server, "close");
  server.close();
  await closed;
};

const trying = async (where: string, open: () => Promise<void>): Promise<void> => {
  try {
    await open();
  } catch (cause) {
    const found = cause instanceof Error ? cause.message : String(cause);
    throw new OperationalError("GTM_LISTEN_FAILED", `expected to listen on ${where}, found: ${found}`, { cause });
  }
};
