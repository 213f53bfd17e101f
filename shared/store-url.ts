/** Where a store is, as one line of a configuration says it. */

export type Endpoint = { readonly host: string /** 1 to 65 535. */; readonly port: number };

export type RedisAddress = {
  readonly isTls: boolean;
  /** null: the server's `default` user. */
  readonly username: string | null;
  readonly password: string | null;
} & (
  | { readonly kind: "single"; readonly endpoint: Endpoint; readonly db: number }
  /** The Sentinels know which server is the primary called `name`. */
  | { readonly kind: "sentinel"; readonly sentinels: readonly Endpoint[]; readonly name: string; readonly db: number }
  /** Some of its nodes; they tell of the others. A Cluster has one database. */
  | { readonly kind: "cluster"; readonly seeds: readonly Endpoint[] }
);

export type StoreAddress = { readonly kind: "memory" } | RedisAddress;

export const STORE_URL_FORMS =
  "memory:, redis://host:6379, redis+sentinel://host:26379,host:26379/primary-name or redis+cluster://host:6379,host:6379; rediss… for TLS";

const KIND_BY_SCHEME = {
  redis: "single",
  rediss: "single",
  "redis+sentinel": "sentinel",
  "rediss+sentinel": "sentinel",
  "redis+cluster": "cluster",
  "rediss+cluster": "cluster",
} as const;
const USUAL_PORT = { single: 6379, sentinel: 26_379, cluster: 6379 } as const;
const MOST_ENDPOINTS = 32;
const MOST_DB = 65_535;

/** @returns null for anything else; the fault is not told in detail, since a URL may hold a password */
export const parseStoreUrl = (text: string): StoreAddress | null => {
  if (text === "memory:") return { kind: "memory" };
  const [, scheme = "", login, hosts = "", path = ""] =
    /^([a-z+]+):\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/([^?#]*))?$/.exec(text) ?? [];
  if (!isScheme(scheme)) return null;
  const kind = KIND_BY_SCHEME[scheme];
  const endpoints = endpointsIn(hosts, USUAL_PORT[kind]);
  const credentials = login === undefined ? NO_CREDENTIALS : credentialsIn(login);
  if (endpoints === null || credentials === null) return null;
  const base = { isTls: scheme.startsWith("rediss"), ...credentials };
  switch (kind) {
    case "single":
      return singleOf(base, endpoints, path);
    case "sentinel":
      return sentinelOf(base, endpoints, path);
    case "cluster":
      return path === "" ? { ...base, kind, seeds: endpoints } : null;
  }
};

/** The same without its password, for logs. */
export const shownStoreUrl = (text: string): string => text.replace(/^([a-z+]+:\/\/)([^@/:]*)(?::[^@/]*)?@/, "$1$2@");

type Base = Pick<RedisAddress, "isTls" | "username" | "password">;

const isScheme = (text: string): text is keyof typeof KIND_BY_SCHEME => Object.hasOwn(KIND_BY_SCHEME, text);

const NO_CREDENTIALS = { username: null, password: null };

const singleOf = (base: Base, endpoints: readonly Endpoint[], path: string): RedisAddress | null => {
  const [endpoint, ...others] = endpoints;
  const db = dbIn(path);
  return endpoint === undefined || others.length > 0 || db === null ? null : { ...base, kind: "single", endpoint, db };
};

/** @param path `name` or `name/db` */
const sentinelOf = (base: Base, sentinels: readonly Endpoint[], path: string): RedisAddress | null => {
  const [, name = "", db = ""] = /^([A-Za-z0-9._-]{1,128})(?:\/(\d+))?$/.exec(path) ?? [];
  const number = dbIn(db);
  return name === "" || number === null ? null : { ...base, kind: "sentinel", sentinels, name, db: number };
};

const dbIn = (text: string): number | null => {
  if (text === "") return 0;
  return /^\d{1,5}$/.test(text) && Number(text) <= MOST_DB ? Number(text) : null;
};

const credentialsIn = (login: string): Pick<RedisAddress, "username" | "password"> | null => {
  const [username = "", ...password] = login.split(":");
  try {
    return {
      username: username === "" ? null : decodeURIComponent(username),
      password: password.length === 0 ? null : decodeURIComponent(password.join(":")),
    };
  } catch {
    return null;
  }
};

const endpointsIn = (hosts: string, usualPort: number): readonly Endpoint[] | null => {
  const endpoints = hosts.split(",").map((host) => endpointIn(host, usualPort));
  const found = endpoints.filter((endpoint) => endpoint !== null);
  return found.length === endpoints.length && found.length <= MOST_ENDPOINTS ? found : null;
};

/** "host", "host:port", "[2001:db8::1]:port" */
const endpointIn = (text: string, usualPort: number): Endpoint | null => {
  const [, six, name, port] = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = six ?? name;
  const number = port === undefined ? usualPort : Number(port);
  return host === undefined || number < 1 || number > 65_535 ? null : { host, port: number };
};
