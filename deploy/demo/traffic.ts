/** Keeps conversations flowing while somebody looks: a few clients a city, each a chat of some turns, then the next. */
import { setTimeout as sleep } from "node:timers/promises";
import { clientAddress, MODEL, PLACES, type Place } from "./places.ts";
import { prose } from "./prose.ts";
import type { Stack } from "./stack.ts";
import { type Message, type Turn, takeTurn } from "./turn.ts";

export type Traffic = { readonly stop: () => Promise<void> };

export type TrafficEvent =
  | {
      readonly kind: "turn";
      readonly city: string;
      readonly chat: string;
      readonly at: number;
      readonly turn: Turn;
      /** The GTM that sent it there. */
      readonly instance: string;
    }
  | { readonly kind: "failed"; readonly city: string; readonly chat: string; readonly why: string };

const CLIENTS_PER_PLACE = 2;
const TURNS_PER_CHAT = 8;
const FIRST_PROMPT_TOKENS = 2_000;
const LATER_PROMPT_TOKENS = 300;
const THINK_MS = 2_000;
const ANSWER_TOKENS = 32;

export const startTraffic = (stack: Stack, onEvent: (event: TrafficEvent) => void): Traffic => {
  const stopping = new AbortController();
  const clients = PLACES.flatMap((place) =>
    Array.from({ length: CLIENTS_PER_PLACE }, (_, at) => runClient(place, at + 1, stack, onEvent, stopping.signal)),
  );
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(clients);
    },
  };
};

const runClient = async (
  place: Place,
  number: number,
  stack: Stack,
  onEvent: (event: TrafficEvent) => void,
  signal: AbortSignal,
): Promise<void> => {
  // Not all at once.
  await pause((number * THINK_MS) / CLIENTS_PER_PLACE, signal);
  for (let chats = 1; !signal.aborted; chats++) {
    await runChat(place, `${place.city.toLowerCase()}-${number}-${chats}`, number, stack, onEvent, signal);
  }
};

const runChat = async (
  place: Place,
  chat: string,
  number: number,
  stack: Stack,
  onEvent: (event: TrafficEvent) => void,
  signal: AbortSignal,
): Promise<void> => {
  const client = { place, address: clientAddress(place, number) };
  const messages: Message[] = [{ role: "system", content: "You answer briefly." }];
  let region: string | null = null;
  let pin: string | null = null;
  for (let at = 1; at <= TURNS_PER_CHAT && !signal.aborted; at++) {
    messages.push({
      role: "user",
      content: prose(at === 1 ? FIRST_PROMPT_TOKENS : LATER_PROMPT_TOKENS, `${chat}-${at}`),
    });
    // Where there are two GTMs, a conversation comes to either, as it does when DNS names both.
    const gtm = stack.gtms[at % stack.gtms.length] ?? stack.gtms[0];
    try {
      const asked = { id: chat, model: MODEL, messages, maxTokens: ANSWER_TOKENS, region, pin };
      const turn: Turn = await takeTurn(gtm.frontUrl, client, asked);
      messages.push({ role: "assistant", content: turn.answer });
      region = turn.region;
      pin = turn.pin;
      onEvent({ kind: "turn", city: place.city, chat, at, turn, instance: gtm.instance });
    } catch (fault) {
      // A region that dies under a turn takes it along, as in life; the client tries again with its next prompt.
      messages.pop();
      if (!signal.aborted) onEvent({ kind: "failed", city: place.city, chat, why: String(fault) });
    }
    await pause(THINK_MS, signal);
  }
};

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);
