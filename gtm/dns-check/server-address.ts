/** A DNS server as a person names it, and as messages name it. */
import { isIP, isIPv6 } from "node:net";

export type ServerAddress = { readonly address: string; readonly port: number };

export const DNS_PORT = 53;

/**
 * @param text "192.0.2.1", "192.0.2.1:5300", "2001:db8::1" or "[2001:db8::1]:5300"
 * @returns null when it is none of these
 */
export const parseServer = (text: string, defaultPort: number = DNS_PORT): ServerAddress | null => {
  if (isIP(text) !== 0) return { address: text, port: defaultPort };
  const [, six, four, port = ""] = /^(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const address = six ?? four ?? "";
  if (isIP(address) === 0 || (six !== undefined && !isIPv6(address))) return null;
  const number = port === "" ? defaultPort : Number(port);
  return number >= 1 && number <= 65_535 ? { address, port: number } : null;
};

/** The port stands there only where it is not the usual one. */
export const serverText = ({ address, port }: ServerAddress): string => {
  if (port === DNS_PORT) return address;
  return `${isIPv6(address) ? `[${address}]` : address}:${port}`;
};

/** IPv6 in its one spelling (RFC 5952), so that addresses can be compared as texts. */
export const canonicalAddress = (address: string): string =>
  isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
