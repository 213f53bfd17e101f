/** The shipped users of Redis, made by the shipped script for one test: a folder with users.acl and a password for each. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Login } from "./redis-cli.ts";

export const REDIS_FILES = join(import.meta.dirname, "../../deploy/redis");

export type RedisUsers = {
  readonly aclFile: string;
  readonly passwordFile: (user: string) => string;
  readonly login: (user: string) => Login;
  /** What a program's configuration says of its store, as this user. */
  readonly store: (
    user: string,
    url: string,
    more?: Readonly<Record<string, string>>,
  ) => { readonly url: string; readonly password_file: string };
};

/** @param folder exists or not; passwords that are there stay */
export const makeRedisUsers = async (folder: string, regions: readonly string[]): Promise<RedisUsers> => {
  await promisify(execFile)(join(REDIS_FILES, "make-users.sh"), [folder, ...regions]);
  const passwordFile = (user: string): string => join(folder, "passwords", user);
  return {
    aclFile: join(folder, "users.acl"),
    passwordFile,
    login: (user) => ({ user, password: readFileSync(passwordFile(user), "utf8").trim() }),
    store: (user, url, more = {}) => ({
      url: url.replace("://", `://${user}@`),
      password_file: passwordFile(user),
      ...more,
    }),
  };
};
