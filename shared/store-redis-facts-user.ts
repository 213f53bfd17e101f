/** Whether the user that a program connects as may do all it needs: tried by commands that every server refuses for another reason. */
import type { Link, Reply } from "./store-redis-facts-link.ts";

/**
 * A server looks at the user's permissions first and at the arguments later. So a write that says `NX XX` is answered NOPERM, or
 * with what keeps the server from writing (OOM, MISCONF, READONLY), or with a syntax error: then it was permitted, and nothing
 * was written.
 */
export type ServerProbe = {
  /** What it stands for, such as "SET gtm:v1:orders". */
  readonly name: string;
  readonly words: readonly string[];
};

export type UserFacts = {
  /** null: the server does not say. */
  readonly name: string | null;
  /** Of the probes, those that the user may not. */
  readonly refused: readonly string[];
  /** Why the server takes no writes from anybody now, in its own words; null: it does, or that was not found out. */
  readonly writeFault: string | null;
};

const NOT_NOW = /^(?:OOM|MISCONF|READONLY|NOREPLICAS|CLUSTERDOWN|MASTERDOWN|LOADING)\b/;

/** @returns null when the server fell silent meanwhile */
export const readUserFacts = async (
  { ask }: Pick<Link, "ask">,
  probes: readonly ServerProbe[],
): Promise<UserFacts | null> => {
  const who = await ask("ACL", "WHOAMI");
  const refused: string[] = [];
  let writeFault: string | null = null;
  // One after the other: the last ones subscribe, after which a connection takes nothing else.
  for (const { name, words } of probes) {
    const reply = await ask(...words);
    if (reply.kind === "silent") return null;
    if (isRefusal(reply)) refused.push(name);
    else if (reply.kind === "error" && NOT_NOW.test(reply.message)) writeFault ??= reply.message;
  }
  return { name: who.kind === "value" ? String(who.value) : null, refused, writeFault };
};

const isRefusal = (reply: Reply): boolean => reply.kind === "error" && reply.message.startsWith("NOPERM");
