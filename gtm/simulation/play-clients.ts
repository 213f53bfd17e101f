/** Clients as they come and go: when each asks its next turn, and where it has been. */
import type { Agenda } from "./clock.ts";
import type { Client, PlannedTurn, Traffic } from "./traffic.ts";

/** Where the conversation's turn before was sent; `endedAtMs` null: it is still being answered. */
export type Last = { readonly region: number; readonly endedAtMs: number | null };

export type Asker = {
  /** In the order of the starts. */
  readonly number: number;
  readonly client: Client;
  /** Turns asked and not yet over. */
  underWay: number;
  /** Of the newest turn that was over, or the client's start. */
  endedAtMs: number;
  /** A closed loop's next, until the turn before is over. */
  next: PlannedTurn | null;
  /** By conversation, the least lately used first. */
  readonly last: Map<number, Last>;
  /** When a connection to a region, by its index, was last used; Infinity: it is in use. */
  readonly usedAtMs: Map<number, number>;
};

/** An agent's tasks begin and end; of those it no longer speaks to nothing is kept. */
const MOST_CONVERSATIONS = 64;

export const rememberLast = ({ last }: Asker, conversation: number, now: Last): void => {
  last.delete(conversation);
  last.set(conversation, now);
  if (last.size <= MOST_CONVERSATIONS) return;
  const [oldest] = last.keys();
  if (oldest !== undefined) last.delete(oldest);
};

export type Clients = {
  /** Begins to let them come. */
  readonly start: () => void;
  /** A turn was answered, or given up. */
  readonly over: (asker: Asker, atMs: number) => void;
};

/** @param untilMs nobody asks from then on @param ask is called at the time of each turn */
export const createClients = (
  agenda: Agenda,
  traffic: Traffic,
  untilMs: number,
  ask: (asker: Asker, turn: PlannedTurn) => void,
): Clients => {
  const comers = traffic.clients();
  let count = 0;

  const plan = (asker: Asker): void => {
    const turn = asker.client.next();
    if (turn === null) return;
    if (turn.asks.kind === "at") askAt(asker, turn, turn.asks.ms);
    else if (asker.underWay === 0) askAt(asker, turn, asker.endedAtMs + turn.asks.thinkMs);
    else asker.next = turn;
  };
  const askAt = (asker: Asker, turn: PlannedTurn, atMs: number): void => {
    if (atMs >= untilMs) return;
    agenda.at(Math.max(atMs, agenda.nowMs()), () => {
      asker.underWay += 1;
      ask(asker, turn);
      plan(asker);
    });
  };
  const letCome = (): void => {
    const { value: client, done } = comers.next();
    if (done === true || client.startsAtMs >= untilMs) return;
    const number = count;
    count += 1;
    agenda.at(Math.max(client.startsAtMs, agenda.nowMs()), () => {
      const asker: Asker = {
        number,
        client,
        underWay: 0,
        endedAtMs: client.startsAtMs,
        next: null,
        last: new Map(),
        usedAtMs: new Map(),
      };
      plan(asker);
      letCome();
    });
  };
  return {
    start: letCome,
    over: (asker, atMs) => {
      asker.underWay -= 1;
      asker.endedAtMs = atMs;
      const turn = asker.next;
      if (turn === null || asker.underWay > 0 || turn.asks.kind === "at") return;
      asker.next = null;
      askAt(asker, turn, atMs + turn.asks.thinkMs);
    },
  };
};
