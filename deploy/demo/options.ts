/** The words of the demo's command line. */
import { parseArgs } from "node:util";
import { createToken } from "#gtm/wire/admin/token.ts";
import { parseStoreUrl, type RedisAddress } from "#shared/store-url.ts";
import { HIGHEST_PORT, LOWEST_PORT } from "./places.ts";

export type DemoOptions = {
  readonly script: boolean;
  readonly quiet: boolean;
  readonly help: boolean;
  readonly token: string;
  /** Added to every port. */
  readonly offset: number;
  /** null: all in memory. */
  readonly redis: RedisWish | null;
};

/** The URL may hold a password: it is shown by `shownStoreUrl` only. */
export type RedisWish = { readonly url: string; readonly address: RedisAddress };

export const HELP = `npm run demo -- [options]

Four regions (engine simulator, gateway and edge agent each; one of them serves over TLS) and one GTM, on loopback, all in
memory.

  --script          tell the story without hands, at most 45 s; exit 0 only if every step came out
  --redis URL       through Redis instead, as in production: two GTMs that are one, every program with a connection of its
                    own. redis://[user:password@]host:port[/database], rediss://…, redis+sentinel://…, redis+cluster://…
                    With --script Redis is lost in the middle, at most 90 s: where nothing listens at a redis:// URL of this
                    machine, the demo starts a redis-server there and kills it; a server that is there it only cuts off.
  --quiet           no conversations of its own
  --port-offset N   add N to every port (DNS 5300, HTTP 8080, admin 9443, metrics 9153, one more for a second GTM; in
                    each region gateway 8090 and its metrics 9155, TLS 8443, engine 8000)
  --token TOKEN     the admin API's token; without it one is made and printed
  --help            this text
`;

/** @throws {TypeError} that says which word is wrong, and never repeats a URL */
export const optionsOf = (words: readonly string[]): DemoOptions => {
  const { values } = parseArgs({
    args: [...words],
    options: {
      script: { type: "boolean", default: false },
      quiet: { type: "boolean", default: false },
      "port-offset": { type: "string", default: "0" },
      token: { type: "string" },
      redis: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const { script, quiet, help, token = createToken(), redis } = values;
  if (!/^[\x21-\x7e]+$/.test(token)) throw new TypeError("--token must be printable ASCII without spaces");
  return {
    ...{ script, quiet, help, token },
    offset: offsetIn(values["port-offset"]),
    redis: redis === undefined ? null : redisWishIn(redis),
  };
};

/** Every port stays one that needs no privilege. */
const LEAST_OFFSET = 1_024 - LOWEST_PORT;
const MOST_OFFSET = 65_535 - HIGHEST_PORT;

const offsetIn = (text: string): number => {
  const offset = Number(text);
  if (/^-?\d+$/.test(text) && offset >= LEAST_OFFSET && offset <= MOST_OFFSET) return offset;
  throw new TypeError(`--port-offset must be a whole number from ${LEAST_OFFSET} to ${MOST_OFFSET}, got ${text}`);
};

const redisWishIn = (url: string): RedisWish => {
  const address = parseStoreUrl(url);
  if (address !== null && address.kind !== "memory") return { url, address };
  throw new TypeError(
    "--redis must be redis://host:6379, redis+sentinel://host:26379,host:26379/primary-name or redis+cluster://host:6379,host:6379; rediss… for TLS",
  );
};
