/** The conversation that the story follows: it takes turns, and can be asked where it is sent. */
import { Resolver } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, seconds } from "./expectation.ts";
import { clientAddress, MODEL, PLACES, placeOf, ZONE } from "./places.ts";
import { prose } from "./prose.ts";
import type { GtmSeat } from "./stack.ts";
import { askFrontDoor, type Chat, type Message, type Turn, takeTurn } from "./turn.ts";

/** A region that died is left by then. */
export const DISPLACED_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 100;

export type Conversation = {
  readonly say: (newTokens: number, gtm: GtmSeat) => Promise<Turn>;
  /** @throws {Error} before the first turn, as `home` and `label` */
  readonly lastTurn: () => Turn;
  readonly home: () => string;
  /** Its public name, which is its pin token too. */
  readonly label: () => string;
  /** Where the front door would send its next turn. */
  readonly redirectedTo: (gtm: GtmSeat) => Promise<string>;
  /** Where its name resolves to. */
  readonly resolvedTo: (gtm: GtmSeat) => Promise<string>;
  /** @returns ms from `sinceMs` until the front door sends it elsewhere */
  readonly redirectedAwayFrom: (region: string, sinceMs: number, gtm: GtmSeat) => Promise<number>;
  /** @returns ms from `sinceMs` until its name resolves elsewhere */
  readonly resolvedAwayFrom: (region: string, sinceMs: number, gtm: GtmSeat) => Promise<number>;
};

export const createConversation = (): Conversation => {
  const client = { place: placeOf("eu-central"), address: clientAddress(placeOf("eu-central"), 7) };
  // A name of its own for every run: nothing of an earlier story may help this one.
  const id = `story-${Date.now().toString(36)}`;
  const messages: Message[] = [];
  let last: Turn | null = null;
  const chatNow = (): Chat => ({
    ...{ id, model: MODEL, messages, maxTokens: 8, region: last?.region ?? null, pin: last?.pin ?? null },
  });
  const lastTurn = (): Turn => {
    if (last === null) throw new Error("the conversation has had no turn yet");
    return last;
  };
  const label = (): string => {
    const { pin } = lastTurn();
    if (pin === null) throw new Error("the front door gave the conversation no label");
    return pin;
  };
  const redirectedTo = async (gtm: GtmSeat): Promise<string> =>
    (await askFrontDoor(gtm.frontUrl, client, chatNow())).region;
  const resolvedTo = (gtm: GtmSeat): Promise<string> => resolve(`${label()}.c.${ZONE}`, gtm);
  return {
    lastTurn,
    home: () => lastTurn().region,
    label,
    say: async (newTokens, gtm) => {
      messages.push({ role: "user", content: prose(newTokens, `${id}-${messages.length}`) });
      last = await takeTurn(gtm.frontUrl, client, chatNow());
      messages.push({ role: "assistant", content: last.answer });
      return last;
    },
    redirectedTo,
    resolvedTo,
    redirectedAwayFrom: (region, sinceMs, gtm) => awayWithin(sinceMs, async () => (await redirectedTo(gtm)) !== region),
    resolvedAwayFrom: (region, sinceMs, gtm) => awayWithin(sinceMs, async () => (await resolvedTo(gtm)) !== region),
  };
};

/** @returns the region whose address the name has. @throws what the resolver throws where there is no answer */
export const resolve = async (name: string, gtm: GtmSeat): Promise<string> => {
  const resolver = new Resolver({ timeout: 1_000, tries: 1 });
  resolver.setServers([gtm.dnsServer]);
  const [address] = await resolver.resolve4(name);
  const place = PLACES.find((one) => one.address === address);
  if (place === undefined) throw new Error(`${name} resolves to ${address}, which is no region of the demo`);
  return place.region;
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
