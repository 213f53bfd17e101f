/** Whether an address lies in one of a few networks; on octets, since every datagram is asked. */
import { readAddress } from "./peer-address.ts";

/** @param length as readAddress returned it */
export type AddressSet = (octets: Uint8Array, length: 4 | 16) => boolean;

type Network = { readonly octets: Uint8Array; readonly length: 4 | 16; readonly bits: number };

/** @param networks CIDR notation; @throws {Error} for anything else: the configuration's schema refuses it, so this is a bug */
export const addressSet = (networks: readonly string[]): AddressSet => {
  const parsed = networks.map(networkIn);
  return (octets, length) => {
    for (const network of parsed) if (network.length === length && isWithin(octets, network)) return true;
    return false;
  };
};

const networkIn = (cidr: string): Network => {
  const [address = "", bits = ""] = cidr.split("/");
  const octets = new Uint8Array(16);
  const length = readAddress(address, octets);
  // IPv4 that is written as IPv6 counts as IPv4, its length too.
  const spare = length === 4 && address.includes(":") ? 96 : 0;
  const prefixBits = Number(bits) - spare;
  if (length === 0 || !/^\d+$/.test(bits) || prefixBits < 0 || prefixBits > length * 8) {
    throw new Error(`"${cidr}" is no network`);
  }
  return { octets, length, bits: prefixBits };
};

const isWithin = (octets: Uint8Array, network: Network): boolean => {
  const whole = network.bits >>> 3;
  for (let i = 0; i < whole; i++) if (octets[i] !== network.octets[i]) return false;
  const rest = network.bits & 7;
  return rest === 0 || ((octets[whole] ?? 0) ^ (network.octets[whole] ?? 0)) >>> (8 - rest) === 0;
};
