/** What of a request proves who asks: clients drop most of it when they follow a redirect, and a ticket carries it for them. */
import type { IncomingHttpHeaders } from "node:http";
import { headerIn } from "./headers.ts";

/** Names in lower case and values. Never to be logged. */
export type Credentials = readonly (readonly [name: string, value: string])[];

/** Dropped by nearly all clients on the way to another host. */
const DROPPED = ["authorization", "cookie"] as const;
/** Kept by some. */
const OTHERS = ["x-api-key", "api-key"] as const;

const NONE: Credentials = [];

/** @param configured further headers, in lower case */
export const createCredentialsIn = (configured: readonly string[]): ((headers: IncomingHttpHeaders) => Credentials) => {
  const names = [...new Set([...DROPPED, ...OTHERS, ...configured])];
  return (headers) => {
    let found: [string, string][] | null = null;
    for (const name of names) {
      const value = headerIn(headers, name);
      if (value === null) continue;
      found ??= [];
      found.push([name, value]);
    }
    return found ?? NONE;
  };
};

/** Whether a plain redirect loses a credential of this request with nearly every client. */
export const losesCredentials = (headers: IncomingHttpHeaders): boolean =>
  DROPPED.some((name) => headerIn(headers, name) !== null);

/** Octets, about; what is in it besides names and values is far less. */
export const sizeOf = (credentials: Credentials): number => {
  let octets = 0;
  for (const [name, value] of credentials) octets += name.length + value.length;
  return octets;
};
