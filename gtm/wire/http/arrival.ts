/** What a request is for, as far as its first line and its host say; or why it is for nobody here. */
import type { IncomingMessage } from "node:http";
import type { Pool } from "#gtm/domain/pool.ts";
import { type LabelReading, type Labels, tagOf } from "#shared/pin-token.ts";
import { isUnder, type RequestTarget, requestTarget } from "#shared/request-target.ts";
import { type Hosts, type Site, siteFinder } from "./hosts.ts";
import type { ProblemCode } from "./problem.ts";

/** A pool, and which of its paths the request lies under, such as "/v1". */
export type PoolAt = { readonly pool: Pool; readonly prefix: string };

export type Arrival = {
  readonly kind: "arrived";
  readonly target: RequestTarget;
  /** Pools that have the path, in order of preference; at least one. */
  readonly pools: readonly PoolAt[];
  /** Whether the first of them is meant where no model is named. */
  readonly isDefault: boolean;
  /** What the label in the host says; null: the host has none. */
  readonly hostLabel: LabelReading | null;
};
export type Refusal = { readonly kind: "refused"; readonly code: ProblemCode; readonly detail: string };

export type ArrivalRules = Hosts & {
  readonly labels: Labels;
  readonly headerCount: number;
};

type Meant = { readonly pools: readonly Pool[] } & Pick<Arrival, "isDefault" | "hostLabel">;

export const createArrive = (rules: ArrivalRules): ((incoming: IncomingMessage) => Arrival | Refusal) => {
  const siteOf = siteFinder(rules);
  const { pools, defaultPool, labels } = rules;
  const poolByTag = new Map(pools.map((pool) => [tagOf(pool.name), pool]));
  const preferred = defaultPool === null ? pools : [defaultPool, ...pools.filter((pool) => pool !== defaultPool)];

  const meantBy = (site: Site): Meant | null => {
    switch (site.kind) {
      case "any":
        return { pools: preferred, isDefault: defaultPool !== null, hostLabel: null };
      case "pool":
        return { pools: [site.pool], isDefault: true, hostLabel: null };
      case "label": {
        const hostLabel = labels.read(site.label);
        // A stranger's label is of the default pool, as in DNS.
        const pool = (hostLabel.kind === "ours" ? poolByTag.get(hostLabel.poolTag) : undefined) ?? defaultPool;
        return pool === null ? null : { pools: [pool], isDefault: true, hostLabel };
      }
    }
  };

  return (incoming) => {
    const malformed = faultIn(incoming, rules.headerCount);
    if (malformed !== null) return malformed;
    const { url = "", headers } = incoming;
    const target = isSound(url, headers.host) ? requestTarget(url, headers.host) : null;
    if (target === null) return refused("malformed-request", "The request target or the Host header is malformed.");
    const site = siteOf(target.host);
    const meant = site === null ? null : meantBy(site);
    if (meant === null) return refused("misdirected", "This host is none of the front door's names.");
    const under = poolsUnder(meant.pools, target.path);
    if (under.length === 0) return refused("not-a-pool-path", "No pool of this host has this path.");
    const isDefault = meant.isDefault && under[0]?.pool === meant.pools[0];
    return { kind: "arrived", target, pools: under, isDefault, hostLabel: meant.hostLabel };
  };
};

const poolsUnder = (pools: readonly Pool[], path: string): readonly PoolAt[] => {
  const under: PoolAt[] = [];
  for (const pool of pools) {
    const prefix = pool.paths.find((one) => isUnder(path, one));
    if (prefix !== undefined) under.push({ pool, prefix });
  }
  return under;
};

const refused = (code: ProblemCode, detail: string): Refusal => ({ kind: "refused", code, detail });

const PLAIN_HOST = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/;
const PORT = /:\d*$/;

/** Whether clients and we read the same host and path: a backslash is a slash to some, and "1.2:80" is 1.0.0.2. */
const isSound = (url: string, host: string | undefined): boolean => {
  const backslash = url.indexOf("\\");
  if (backslash !== -1 && !url.slice(0, backslash).includes("?")) return false;
  if (!url.startsWith("/")) return URL.canParse(url);
  if (host === undefined || PLAIN_HOST.test(host)) return true;
  return URL.parse(`http://${host}/`)?.hostname === host.replace(PORT, "").toLowerCase();
};

/** RFC 9112 §3.2: one Host in HTTP/1.1, neither none nor two. */
const faultIn = ({ rawHeaders, httpVersionMinor }: IncomingMessage, headerCount: number): Refusal | null => {
  if (rawHeaders.length > 2 * headerCount) return refused("headers-too-many", `More than ${headerCount} headers.`);
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  const isFault = hosts > 1 || (hosts === 0 && httpVersionMinor > 0);
  return isFault ? refused("malformed-request", `Expected one Host header, found ${hosts}.`) : null;
};
