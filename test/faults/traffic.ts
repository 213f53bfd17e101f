/** Clients that go on all the time: conversations that take turns at both GTMs, and resolvers that look names up. */
import { setTimeout as pause } from "node:timers/promises";
import { openClient, type Turn } from "./client.ts";
import type { GtmProcess } from "./gtm-process.ts";
import type { Told } from "./history.ts";
import { PLACES, ZONE } from "./settings.ts";

export type Traffic = {
  /** Grows. */
  readonly history: readonly Told[];
  /** How many conversations there are. */
  readonly size: () => number;
  /** A conversation that begins now takes turns from now on. */
  readonly begin: (name: string) => void;
  /** Resolves when everything under way has been answered, or given up. */
  readonly stop: () => Promise<void>;
};

export type TrafficOptions = {
  readonly gtms: readonly GtmProcess[];
  /** Of the conversations' names, so that none is known from before. */
  readonly prefix: string;
};

const CONVERSATIONS = 24;
const THINK_MS = 250;
const LOOK_UP_EVERY_MS = 50;
const FIRST_PROMPT_TOKENS = 2_000;
const GROWTH_TOKENS = 60;

export const startTraffic = ({ gtms, prefix }: TrafficOptions): Traffic => {
  const client = openClient();
  const history: Told[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  const running: Promise<void>[] = [];
  /** Of every conversation that has one. */
  const tokens = new Map<string, string>();
  let begun = 0;
  let lookUps = 0;

  const gtmAt = (at: number): GtmProcess => {
    const gtm = gtms[at % gtms.length];
    if (gtm === undefined) throw new Error("there is no GTM to ask");
    return gtm;
  };
  const namedBy = (name: string, at: number): Turn["by"] => {
    const token = tokens.get(name);
    if (token === undefined || at % 3 === 0) return { name };
    return at % 3 === 1 ? { token } : { label: token };
  };
  /** Alternately at both; every third by its name alone, by its token, by its host. */
  const converse = async (name: string, at: number): Promise<void> => {
    const place = PLACES[at % PLACES.length];
    const from = place?.clients.replace("0/24", String(1 + (at % 250))) ?? "";
    for (let turn = 0; !signal.aborted; turn += 1) {
      const promptTokens = FIRST_PROMPT_TOKENS + turn * GROWTH_TOKENS;
      const taken = { conversation: name, by: namedBy(name, at), from, promptTokens };
      const { told, token } = await client.takeTurn(gtmAt(at + turn), taken);
      history.push(told);
      if (token !== null) tokens.set(name, token);
      await pause(THINK_MS, undefined, { signal }).catch(() => undefined);
    }
  };
  const begin = (name: string): void => {
    running.push(converse(name, begun));
    begun += 1;
  };
  /** In turns: the pool, a label, another one, a stranger. */
  const nextName = (): { readonly name: string; readonly conversation: string | null } => {
    const at = Math.floor(lookUps / gtms.length);
    const [conversation, label] = [...tokens][at % Math.max(1, tokens.size)] ?? [null, null];
    if (at % 4 === 0 || label === null) return { name: `chat.${ZONE}`, conversation: null };
    if (at % 4 === 3) return { name: `stranger-${at % 5}.c.${ZONE}`, conversation: null };
    return { name: `${label}.c.${ZONE}`, conversation };
  };
  const resolve = async (): Promise<void> => {
    const asked = new Set<Promise<void>>();
    while (!signal.aborted) {
      const { name, conversation } = nextName();
      const one = client.lookUp(gtmAt(lookUps), name, conversation).then((told) => {
        history.push(told);
        asked.delete(one);
      });
      asked.add(one);
      lookUps += 1;
      await pause(LOOK_UP_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
    await Promise.all(asked);
  };
  for (let at = 0; at < CONVERSATIONS; at += 1) begin(`${prefix}-${at}`);
  running.push(resolve());
  return {
    history,
    size: () => begun,
    begin,
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
      await client[Symbol.asyncDispose]();
    },
  };
};
