/** Which tickets were opened here already. What is remembered is bounded: in number, and until each ticket ends. */

/** @returns false: the ticket was used before; as `TicketMemory.remember`, or by asking others, too */
export type RememberTicket = (jti: string, untilMs: number, nowMs: number) => boolean | Promise<boolean>;

export type TicketMemory = {
  /**
   * @param jti of a ticket that was found genuine
   * @param untilMs when it ends for everybody; epoch ms
   * @returns false: it was there before
   */
  readonly remember: (jti: string, untilMs: number, nowMs: number) => boolean;
  /** Tickets remembered now. */
  readonly size: () => number;
  /** Tickets that were forgotten before their end for want of room: each of them could be used twice. */
  readonly forgotten: () => number;
};

/**
 * Tickets of 25 s at 10 000 a second; about 30 MB. Only genuine tickets come here, so that a stranger fills it no faster
 * than the GTMs seal.
 */
export const MOST_TICKETS = 262_144;

/** @param mostTickets 1 or more; where there are more, the one that was opened first is forgotten */
export const createTicketMemory = (mostTickets = MOST_TICKETS): TicketMemory => {
  /** In the order of opening, which is nearly that of ending: all tickets live equally long. */
  const untilByJti = new Map<string, number>();
  let forgotten = 0;

  const sweep = (nowMs: number): void => {
    for (const [jti, untilMs] of untilByJti) {
      if (untilMs >= nowMs && untilByJti.size < mostTickets) return;
      if (untilMs >= nowMs) forgotten += 1;
      untilByJti.delete(jti);
    }
  };

  return {
    remember: (jti, untilMs, nowMs) => {
      if (untilByJti.has(jti)) return false;
      sweep(nowMs);
      untilByJti.set(jti, untilMs);
      return true;
    },
    size: () => untilByJti.size,
    forgotten: () => forgotten,
  };
};
