/** What is wrong between the parts of a configuration: names that lead nowhere, things there twice, openings too wide. */
import { isReservedPoolName, zoneFaults } from "#gtm/domain/zone.ts";
import { zoneRecordsFaults } from "#gtm/domain/zone-records-faults.ts";
import { tagOf } from "#shared/pin-token.ts";
import { storeFaults } from "#shared/store-settings.ts";
import { dnsListenFaults } from "./dns-listen-settings.ts";
import { gatewayFaults, proxyProtocolFaults } from "./front-settings.ts";
import { keyFaults } from "./key-settings.ts";
import { safetyFaults } from "./safety-settings.ts";
import type { GtmSettings } from "./schema.ts";
import { zoneOf } from "./zone-settings.ts";

export type Fault = { readonly path: readonly (string | number)[]; readonly message: string };

type Section = keyof GtmSettings;
type Check = { readonly needs: readonly Section[]; readonly faults: (settings: GtmSettings) => readonly Fault[] };

const CHECKS: readonly Check[] = [
  { needs: ["safety", "regions"], faults: (settings) => safetyFaults(settings) },
  { needs: ["keys"], faults: ({ keys }) => keyFaults(keys) },
  {
    needs: ["dns"],
    faults: (settings) => zoneFaults(zoneOf(settings)).map((message): Fault => ({ path: ["dns"], message })),
  },
  {
    needs: ["dns"],
    faults: ({ dns }) =>
      dnsListenFaults(dns.listen, dns.workers).map(({ path, message }): Fault => ({ path: ["dns", ...path], message })),
  },
  {
    needs: ["dns", "pools"],
    faults: (settings) =>
      zoneRecordsFaults({ zone: zoneOf(settings), pools: settings.pools.map(({ name }) => name) }).map(
        ({ at, message }): Fault => ({ path: ["dns", "records", at], message }),
      ),
  },
  {
    needs: ["regions"],
    faults: ({ regions }) =>
      nameFaults(
        regions.map(({ id }) => id),
        ["regions"],
        "id",
      ),
  },
  {
    needs: ["pools"],
    faults: ({ pools }) =>
      nameFaults(
        pools.map(({ name }) => name),
        ["pools"],
        "name",
      ),
  },
  { needs: ["models"], faults: ({ models }) => modelFaults(models) },
  { needs: ["pools"], faults: ({ pools }) => pools.flatMap((pool, at) => reservedFaults(pool, at)) },
  {
    needs: ["pools", "models"],
    faults: ({ pools, models }) =>
      pools.flatMap((pool, at) => unknown(pool.models, idsOf(models), ["pools", at, "models"], "model")),
  },
  {
    needs: ["pools", "regions"],
    faults: ({ pools, regions }) => pools.flatMap((pool, at) => memberFaults(pool, at, idsOf(regions))),
  },
  {
    needs: ["pools", "dns"],
    faults: ({ pools, dns }) => defaultPoolFaults(dns.default_pool, pools, ["dns", "default_pool"]),
  },
  {
    needs: ["pools", "http"],
    faults: ({ pools, http }) => defaultPoolFaults(http.default_pool, pools, ["http", "default_pool"]),
  },
  { needs: ["regions"], faults: ({ regions }) => regions.flatMap((region, at) => endpointFaults(region, at)) },
  { needs: ["regions", "keys"], faults: gatewayFaults },
  { needs: ["http"], faults: proxyProtocolFaults },
  { needs: ["admin"], faults: (settings) => exposureFaults(settings) },
  {
    needs: ["store"],
    faults: ({ store }) =>
      storeFaults(store).map(({ path, message }): Fault => ({ path: ["store", ...path], message })),
  },
];

/**
 * @param settings may lack sections, or hold odd ones, where the schema found fault with them
 * @param isSound whether the schema found nothing wrong in a section: only then is it read here
 */
export const crossFaults = (settings: GtmSettings, isSound: (section: Section) => boolean): readonly Fault[] =>
  CHECKS.flatMap(({ needs, faults }) => (needs.every(isSound) ? faults(settings) : []));

type Path = readonly (string | number)[];

const twice = (names: readonly string[], path: Path, key: string | null): readonly Fault[] =>
  names.flatMap((name, at) =>
    names.indexOf(name) === at
      ? []
      : [{ path: key === null ? path : [...path, at, key], message: `${name} stands here twice` }],
  );

/** Labels carry 16 bits of an id's hash: two ids with the same ones could not be told apart. */
const collisions = (names: readonly string[], path: Path): readonly Fault[] => {
  const owners = new Map<number, string>();
  return names.flatMap((name, at) => {
    const owner = owners.get(tagOf(name)) ?? name;
    owners.set(tagOf(name), owner);
    if (owner === name) return [];
    return [{ path: [...path, at], message: `${name} and ${owner} have the same tag in labels; rename one` }];
  });
};

const nameFaults = (names: readonly string[], path: Path, key: string): readonly Fault[] => [
  ...twice(names, path, key),
  ...collisions(names, path),
];

/** An alias is another name of its model, so none may stand for two. */
const modelFaults = (models: GtmSettings["models"]): readonly Fault[] =>
  twice(
    models.flatMap(({ id, aliases }) => [id, ...aliases]),
    ["models"],
    null,
  );

type Pool = GtmSettings["pools"][number];

const reservedFaults = ({ name }: Pool, at: number): readonly Fault[] =>
  isReservedPoolName(name)
    ? [{ path: ["pools", at, "name"], message: `${name} is a name that the zone needs for itself` }]
    : [];

const memberFaults = (pool: Pool, at: number, regions: readonly string[]): readonly Fault[] => [
  ...unknown(pool.regions, regions, ["pools", at, "regions"], "region"),
  ...(pool.last_resort.kind === "regions"
    ? unknown(pool.last_resort.order, regions, ["pools", at, "last_resort", "order"], "region")
    : []),
];

const idsOf = (named: readonly { readonly id: string }[]): readonly string[] => named.map(({ id }) => id);

const unknown = (names: readonly string[], known: readonly string[], path: Path, what: string): readonly Fault[] =>
  names.flatMap((name, at) => (known.includes(name) ? [] : [{ path: [...path, at], message: noSuch(what, name) }]));

const defaultPoolFaults = (name: string | null, pools: readonly Pool[], path: Path): readonly Fault[] =>
  name === null || pools.some((pool) => pool.name === name) ? [] : [{ path, message: noSuch("pool", name) }];

const noSuch = (what: string, name: string): string => `no ${what} is called ${name}`;

const endpointFaults = ({ endpoint, id }: GtmSettings["regions"][number], at: number): readonly Fault[] => {
  const faults: string[] = [];
  if (endpoint.a.length + endpoint.aaaa.length === 0) {
    faults.push(`${id} has neither an a nor an aaaa address to answer with`);
  }
  if (endpoint.alpn.length > 0 && endpoint.url?.startsWith("http:") === true) {
    faults.push(`${id} has alpn, which is spoken over TLS, and a url without it`);
  }
  if (new Set(endpoint.alpn).size < endpoint.alpn.length) faults.push(`${id} has one alpn twice`);
  return faults.map((message) => ({ path: ["regions", at, "endpoint"], message }));
};

/** Without tokens everybody who can connect is an admin. */
const exposureFaults = ({ admin }: GtmSettings): readonly Fault[] => {
  const isLoopback = admin.listen.address === "::1" || admin.listen.address.startsWith("127.");
  return isLoopback || admin.auth.tokens_file !== null || admin.auth.oidc !== null
    ? []
    : [
        {
          path: ["admin", "listen"],
          message: "must be a loopback address where neither auth.tokens_file nor auth.oidc is given",
        },
      ];
};
