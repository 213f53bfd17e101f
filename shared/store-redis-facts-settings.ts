/** What a server's configuration says, where it may be read. */
import { type Link, wordsOf } from "./store-redis-facts-link.ts";

export type OutputLimit = {
  readonly hardBytes: number;
  readonly softBytes: number;
  readonly softSeconds: number;
};

export type SettingFacts = {
  readonly savesSnapshots: boolean | null;
  readonly leastReplicas: number | null;
  readonly channelLimit: OutputLimit | null;
  readonly why: string | null;
};

/** CONFIG is for administrators: most users may not, and managed servers have none. */
export const readSettingFacts = async (link: Link): Promise<SettingFacts> => {
  const found = new Map<string, string>();
  let why: string | null = null;
  for (const name of ["save", "min-replicas-to-write", "client-output-buffer-limit"]) {
    const reply = await link.ask("CONFIG", "GET", name);
    if (reply.kind === "value" && Array.isArray(reply.value)) found.set(name, String(reply.value[1] ?? ""));
    else why ??= reply.kind === "value" ? "CONFIG GET replied no list" : wordsOf(reply);
  }
  const [save, least] = [found.get("save"), found.get("min-replicas-to-write")];
  const [, hard, soft, seconds] =
    /\bpubsub (\d+) (\d+) (\d+)/.exec(found.get("client-output-buffer-limit") ?? "") ?? [];
  return {
    savesSnapshots: save === undefined ? null : save !== "",
    leastReplicas: least === undefined ? null : Number(least),
    channelLimit:
      hard === undefined ? null : { hardBytes: Number(hard), softBytes: Number(soft), softSeconds: Number(seconds) },
    why,
  };
};
