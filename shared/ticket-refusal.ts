/** Why a ticket is not opened, and how that is said to whoever has to mend it. */

export type TicketRefusal =
  | {
      readonly kind: "refused";
      readonly reason: /** No ticket of ours: cut, changed, or never one. */
        | "malformed"
        /** Another region's, or sealed with a key that was dropped or has not been copied here. */
        | "unknown-key"
        /** Sealed for another method, host or path. */
        | "other-target"
        /** Used before. */
        | "replayed";
    }
  /** By this process's clock. `byMs`: how long ago it ended, or how long until it is sealed; more than the leeway. */
  | { readonly kind: "refused"; readonly reason: "expired" | "not-yet"; readonly byMs: number };

/** For a log and an error's body: says nothing of the ticket's content. */
export const ticketRefusalText = (refusal: TicketRefusal): string => {
  switch (refusal.reason) {
    case "malformed":
      return "The ticket is damaged, or none of this GTM's. Send the request to the front door again.";
    case "unknown-key":
      return "The ticket is sealed with a key that this gateway does not have: it is another region's, or keys.ticket_file is older than the GTMs' ticket.keys.";
    case "other-target":
      return "The ticket was sealed for another method, host or path than this request's.";
    case "replayed":
      return "The ticket was used before, and is good for one use. Send the request to the front door again.";
    case "expired":
      return `The ticket ended ${seconds(refusal.byMs)} ago by this gateway's clock. A ticket lives 15 s: unless the client waited that long, this clock is ahead of the GTM's by ${seconds(refusal.byMs + LIFE_MS)}. Set both clocks (NTP).`;
    case "not-yet":
      return `The ticket will be sealed only ${seconds(refusal.byMs)} from now by this gateway's clock: this clock is behind the GTM's by at least as much. Set both clocks (NTP).`;
  }
};

const LIFE_MS = 15_000;

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
