/** One short-lived connection to one server, on which every question is answered or known not to be, within a deadline. */
import { Redis } from "ioredis";
import { type Away, awayOf, awayOfReply } from "./store-redis-facts-away.ts";
import type { RedisSecrets } from "./store-redis-secrets.ts";
import type { Endpoint } from "./store-url.ts";

export type { Away } from "./store-redis-facts-away.ts";

export type Reply =
  | { readonly kind: "value"; readonly value: unknown }
  /** The server's own words. */
  | { readonly kind: "error"; readonly message: string }
  /** No answer within the deadline, or the connection ended: nothing is asked after that. */
  | { readonly kind: "silent" };

export type Link = {
  readonly ask: (...words: readonly string[]) => Promise<Reply>;
  /** Whether anybody may speak, without a name or a password; null: that was not found out. */
  readonly isOpenToAll: boolean | null;
  readonly close: () => void;
};

/** Why there is no value, for people. */
export const wordsOf = (reply: Exclude<Reply, { readonly kind: "value" }>): string =>
  reply.kind === "error" ? reply.message : "no answer within the deadline";

export type As = "data" | "sentinel";
/** Connects and authenticates. Never rejects. */
export type OpenLink = (endpoint: Endpoint, as: As) => Promise<Link | Away>;

export const isAway = (opened: Link | Away): opened is Away => "cause" in opened;

export const createOpener =
  (secrets: RedisSecrets, { deadlineMs }: { readonly deadlineMs: number }): OpenLink =>
  async (endpoint, as) => {
    const redis = new Redis({
      ...endpoint,
      // Authentication and selection are questions like any other: here, so that their exact answers are heard.
      ...{ lazyConnect: true, enableReadyCheck: false, enableOfflineQueue: false, disableClientInfo: true },
      ...{ retryStrategy: () => null, maxRetriesPerRequest: 0, autoResubscribe: false },
      connectTimeout: deadlineMs,
      // A server that hangs does not say goodbye either.
      disconnectTimeout: 100,
      ...{ protocol: 2, replyMapping: "legacy" },
      ...(secrets.tls === undefined ? {} : { tls: secrets.tls }),
    });
    let fault: Error | null = null;
    redis.on("error", (cause) => {
      fault ??= cause;
    });
    const connected = await within(redis.connect(), deadlineMs);
    const close = (): void => redis.disconnect();
    if (connected.kind !== "value") {
      close();
      return awayOf(connected.kind === "silent" ? null : (fault ?? new Error(connected.message)));
    }
    const ask = askerOn(redis, deadlineMs);
    // Whoever has not said who he is: the `default` user, if that needs no password.
    const greeted = await ask("PING");
    const refused =
      greeted.kind === "silent" ? awayOf(null) : await refusalOf(ask, greeted, credentialsOf(secrets, as));
    if (refused !== null) {
      close();
      return refused;
    }
    return { ask, close, isOpenToAll: greeted.kind === "value" };
  };

type Credentials = { readonly username: string | undefined; readonly password: string | undefined };

/** Sentinels have users of their own; the store knows a password for them and no name. */
const credentialsOf = ({ username, password, sentinelPassword }: RedisSecrets, as: As): Credentials =>
  as === "data" ? { username, password } : { username: undefined, password: sentinelPassword };

const refusalOf = async (
  ask: Link["ask"],
  greeted: Exclude<Reply, { readonly kind: "silent" }>,
  { username, password }: Credentials,
): Promise<Away | null> => {
  if (password === undefined) return greeted.kind === "error" ? awayOfReply(greeted.message) : null;
  const reply = await ask("AUTH", ...(username === undefined ? [] : [username]), password);
  if (reply.kind === "silent") return awayOf(null);
  // A server that asks for no password refuses one, and serves all the same.
  if (reply.kind === "value" || greeted.kind === "value") return null;
  return awayOfReply(reply.message);
};

const askerOn = (redis: Redis, deadlineMs: number): Link["ask"] => {
  let isSilent = false;
  return async (command = "", ...args) => {
    if (isSilent) return { kind: "silent" };
    // ioredis knows a command that subscribes by its name in lower case.
    const reply = await within(redis.call(command.toLowerCase(), ...args), deadlineMs);
    isSilent = reply.kind === "silent";
    return reply;
  };
};

const within = async (asked: Promise<unknown>, deadlineMs: number): Promise<Reply> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Reply>((resolve) => {
    timer = setTimeout(() => resolve({ kind: "silent" }), deadlineMs);
  });
  const answered = asked.then(
    (value): Reply => ({ kind: "value", value }),
    (cause: unknown): Reply => ({ kind: "error", message: cause instanceof Error ? cause.message : String(cause) }),
  );
  try {
    return await Promise.race([answered, late]);
  } finally {
    clearTimeout(timer);
  }
};
