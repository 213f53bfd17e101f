/** Credentials and certificates for Redis, read from their files at each connect, so that they can be changed while it runs. */
import type { ConnectionOptions } from "node:tls";
import { readSecretFile } from "./config.ts";
import type { StoreSettings } from "./store-settings.ts";
import type { RedisAddress } from "./store-url.ts";

export type RedisSecrets = {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly sentinelPassword: string | undefined;
  /** undefined: no TLS. */
  readonly tls: ConnectionOptions | undefined;
};

/** @throws {OperationalError} GTM_CONFIG_UNREADABLE naming the file */
export const readRedisSecrets = (settings: StoreSettings, address: RedisAddress): RedisSecrets => {
  const secret = (path: string | null): string | undefined => (path === null ? undefined : readSecretFile(path));
  const password = secret(settings.password_file) ?? address.password ?? undefined;
  const username = secret(settings.username_file) ?? address.username ?? undefined;
  const ca = secret(settings.ca_file);
  const cert = secret(settings.cert_file);
  const key = secret(settings.key_file);
  const tls: ConnectionOptions = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
  return {
    username,
    password,
    sentinelPassword: secret(settings.sentinel_password_file),
    tls: address.isTls ? tls : undefined,
  };
};
