/** The conversation that the story follows: it takes turns, and can be asked where it is sent. */
import { Resolver } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, seconds } from "./expectation.ts";
import { clientAddress, MODEL, placeOf, ZONE } from "./places.ts";
import { prose } from "./prose.ts";
import type { Stack } from "./stack.ts";
import { askFrontDoor, type Chat, type Message, type Turn, takeTurn } from "./turn.ts";

/** A region that died is left by then. */
export const DISPLACED_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 100;

export type Conversation = {
  readonly say: (newTokens: number) => Promise<Turn>;
  readonly home: () => string;
  /** @returns ms from `sinceMs` until the front door sends it elsewhere */
  readonly redirectedAwayFrom: (region: string, sinceMs: number) => Promise<number>;
  /** @returns ms from `sinceMs` until its name resolves elsewhere */
  readonly resolvedAwayFrom: (region: string, sinceMs: number) => Promise<number>;
};

export const createConversation = (stack: Stack): Conversation => {
  const client = { place: placeOf("eu-central"), address: clientAddress(placeOf("eu-central"), 7) };
  // A name of its own for every run: nothing of an earlier story may help this one.
  const id = `story-${Date.now().toString(36)}`;
  const messages: Message[] = [];
  let home: string | null = null;
  let label: string | null = null;
  const chatNow = (): Chat => ({ id, model: MODEL, messages, maxTokens: 8, region: home });
  const known = (): string => {
    if (home === null) throw new Error("the conversation has no home yet");
    return home;
  };
  return {
    home: known,
    say: async (newTokens) => {
      messages.push({ role: "user", content: prose(newTokens, `${id}-${messages.length}`) });
      const turn = await takeTurn(stack.frontUrl, client, chatNow());
      messages.push({ role: "assistant", content: turn.answer });
      home = turn.region;
      label = turn.pin;
      return turn;
    },
    redirectedAwayFrom: (region, sinceMs) =>
      awayWithin(sinceMs, async () => {
        const redirect = await askFrontDoor(stack.frontUrl, client, chatNow());
        return redirect.region !== region;
      }),
    resolvedAwayFrom: (region, sinceMs) =>
      awayWithin(sinceMs, async () => {
        if (label === null) throw new Error("the front door gave the conversation no label");
        const resolver = new Resolver({ timeout: 1_000, tries: 1 });
        resolver.setServers([stack.dnsServer]);
        const [address] = await resolver.resolve4(`${label}.c.${ZONE}`);
        return address !== undefined && address !== placeOf(region).address;
      }),
  };
};

const awayWithin = async (sinceMs: number, isAway: () => Promise<boolean>): Promise<number> => {
  for (;;) {
    const away = await isAway();
    const afterMs = performance.now() - sinceMs;
    expect(afterMs <= DISPLACED_WITHIN_MS, `still sent to the dead region after ${seconds(afterMs)}`);
    if (away) return afterMs;
    await sleep(LOOK_EVERY_MS);
  }
};
