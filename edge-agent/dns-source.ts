/** Engines behind a DNS name: each of its addresses is one, never the name. */
import type { Clock } from "#shared/clock.ts";
import type { Manner, Source } from "./discovery.ts";

/** All addresses of a name. Rejects with the resolver's code. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export type DnsOptions = {
  /** With the name in it and the port that all of them have. */
  readonly url: string;
  readonly manner: Manner;
  readonly refreshMs: number;
};

export type DnsBy = {
  readonly resolve: Resolve;
  readonly clock: Clock;
  /** Once for each change; the number of addresses. */
  readonly onChange: (name: string, addresses: number) => void;
};

export type DnsSource = {
  readonly source: Source;
  /** Resolves once the name has been asked for the first time, well or not. */
  readonly firstAsked: () => Promise<void>;
};

/** A name that has no address any more: engines that it had are asked for so long, since resolvers fail more often than regions vanish. */
const KEEP_MS = 30_000;

/**
 * Every address behind the name is an engine of its own. The name is asked again in the background, at most each `refreshMs`,
 * when the source is looked at; a resolver that fails changes nothing for 30 s.
 */
export const dnsSource = ({ url, manner, refreshMs }: DnsOptions, { resolve, clock, onChange }: DnsBy): DnsSource => {
  const named = new URL(url);
  const usual = named.protocol === "https:" ? "443" : "80";
  const port = named.port === "" ? usual : named.port;
  const host = `${named.hostname}:${port}`;
  let addresses: readonly string[] = [];
  let fault: string | null = null;
  let answeredAtMs = clock.monotonicMs();
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;

  const ask = async (): Promise<void> => {
    try {
      const found = [...new Set(await resolve(named.hostname.replace(/^\[|\]$/g, "")))].sort();
      if (found.length === 0) throw Object.assign(new Error("no address"), { code: "ENODATA" });
      if (found.join() !== addresses.join()) onChange(named.hostname, found.length);
      addresses = found;
      fault = null;
      answeredAtMs = clock.monotonicMs();
    } catch (error) {
      fault = `dns-${codeOf(error)}`;
      if (clock.monotonicMs() - answeredAtMs >= KEEP_MS && addresses.length > 0) {
        addresses = [];
        onChange(named.hostname, 0);
      }
    } finally {
      asking = null;
    }
  };
  const askIfDue = (): void => {
    if (asking !== null || clock.monotonicMs() - askedAtMs < refreshMs) return;
    askedAtMs = clock.monotonicMs();
    asking = ask();
  };

  return {
    firstAsked: async () => {
      askIfDue();
      await asking;
    },
    source: () => {
      askIfDue();
      return {
        places: addresses.map((address) => {
          const at = `${address.includes(":") ? `[${address}]` : address}:${port}`;
          const path = named.pathname.replace(/\/+$/, "");
          return { ...manner, address: at, url: `${named.protocol}//${at}${path}`, host };
        }),
        faults: fault === null ? [] : [{ source: host, field: "engines", code: fault }],
      };
    },
  };
};

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code.toLowerCase().replace(/^e/, "")
    : "failed";
