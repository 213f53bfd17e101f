/** Servers and ports on the command line. */
import { isIP, isIPv6 } from "node:net";
import { InvalidArgumentError } from "commander";
import { asSubnet } from "#gtm/dns-check/questions.ts";
import { parseServer, type ServerAddress } from "#gtm/dns-check/server-address.ts";

/** One more of an option that may be given several times. */
export const serversOf = (text: string, before: readonly ServerAddress[] = []): readonly ServerAddress[] => {
  const server = parseServer(text);
  if (server !== null) return [...before, server];
  throw new InvalidArgumentError("It must be an address, such as 192.0.2.1, 192.0.2.1:5300 or [2001:db8::1]:5300.");
};

export const portOf = (text: string): number => {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError("It must be a port from 1 to 65535.");
};

/** @see serversOf */
export const subnetsOf = (text: string, before: readonly string[] = []): readonly string[] => {
  const [address = "", bits = ""] = text.split("/");
  const most = isIPv6(address) ? 128 : 32;
  if (isIP(address) !== 0 && /^\d+$/.test(bits) && Number(bits) <= most) return [...before, asSubnet(text)];
  throw new InvalidArgumentError("It must be a network, such as 192.0.2.0/24 or 2001:db8::/48.");
};
