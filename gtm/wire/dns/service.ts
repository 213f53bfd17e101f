/** The data of an HTTPS record (RFC 9460) as octets. */
import { encodeName } from "./name.ts";

export type Service =
  /** AliasMode: what holds for `target` holds here. */
  | { readonly mode: "alias"; readonly target: string }
  /** ServiceMode: how the record's owner itself is spoken to. */
  | {
      readonly mode: "service";
      /** ALPN ids, preferred first; at least one. */
      readonly alpn: readonly string[];
      /** 1 to 65 535; 443 goes without saying. */
      readonly port: number;
      readonly ipv4: readonly string[];
      readonly ipv6: readonly string[];
    };

/** RFC 9460 §14.3.2 */
const KEY = { alpn: 1, noDefaultAlpn: 2, port: 3, ipv4hint: 4, ipv6hint: 6 } as const;
/** What a client assumes of an HTTPS record (§9.1). */
const DEFAULT_ALPN = "http/1.1";
const DEFAULT_PORT = 443;

/** @param encodeAddress 4 octets of an IPv4 address, 16 of an IPv6 one */
export const encodeService = (service: Service, encodeAddress: (address: string) => Buffer): Buffer => {
  // §2.2: names are not compressed; §2.4.2: an alias has no parameters.
  if (service.mode === "alias") return Buffer.concat([u16(0), encodeName(service.target)]);
  const { alpn, port, ipv4, ipv6 } = service;
  const parameters: readonly (readonly [key: number, value: Buffer, isGiven: boolean])[] = [
    // §2.2: keys ascend, each once.
    [KEY.alpn, Buffer.concat(alpn.map(counted)), true],
    [KEY.noDefaultAlpn, Buffer.alloc(0), !alpn.includes(DEFAULT_ALPN)],
    [KEY.port, u16(port), port !== DEFAULT_PORT],
    [KEY.ipv4hint, Buffer.concat(ipv4.map(encodeAddress)), ipv4.length > 0],
    [KEY.ipv6hint, Buffer.concat(ipv6.map(encodeAddress)), ipv6.length > 0],
  ];
  const given = parameters.filter(([, , isGiven]) => isGiven);
  return Buffer.concat([
    u16(1),
    // §2.5.2: "." is the owner.
    encodeName("."),
    ...given.flatMap(([key, value]) => [u16(key), u16(value.length), value]),
  ]);
};

const u16 = (value: number): Buffer => Buffer.from([value >>> 8, value & 0xff]);

const counted = (text: string): Buffer => Buffer.from([text.length, ...Buffer.from(text, "latin1")]);
