/** A redirect's ticket: taken from the query and opened, so that the headers that the client dropped on the way are there again. */
import type { TicketClaims, TicketOpener } from "#shared/ticket.ts";
import { TICKET_PARAMETER } from "#shared/ticket.ts";
import { type TicketRefusal, ticketRefusalText } from "#shared/ticket-refusal.ts";
import type { ProblemCode, Refused } from "./problem.ts";
import { takeParameter } from "./query-parameter.ts";

/** The redirect's parameter that names the conversation where it has no ticket; a pin token. */
const PIN_PARAMETER = "gtm_c";

export type Arrived = {
  /** As the client wrote it to the front door: what the engine gets. */
  readonly pathAndQuery: string;
  /** null: no ticket came. */
  readonly claims: TicketClaims | null;
  readonly pinParameter: string | null;
};

export type Asked = {
  readonly method: string /** With its port. */;
  readonly host: string;
  readonly pathAndQuery: string;
};

/** @param opener null: this gateway has no keys of tickets */
export const openTicket = async (
  asked: Asked,
  opener: TicketOpener | null,
  nowEpochMs: number,
): Promise<Arrived | Refused> => {
  const pinned = takeParameter(asked.pathAndQuery, PIN_PARAMETER);
  const ticketed = takeParameter(pinned.pathAndQuery, TICKET_PARAMETER);
  const { pathAndQuery, value: ticket } = ticketed;
  if (ticket === null) return { pathAndQuery, claims: null, pinParameter: pinned.value };
  if (opener === null) return problem("no-ticket-keys", NO_KEYS, false);
  // The front seals path and query as they came to it, so `gtm_c` of its own is not there yet.
  const path = pathAndQuery;
  const opening = await opener.open(ticket, { method: asked.method, host: asked.host, path }, nowEpochMs);
  if (opening.kind === "refused") return refusalOf(opening);
  return { pathAndQuery, claims: opening.claims, pinParameter: pinned.value };
};

const NO_KEYS =
  "This gateway has no keys of tickets (keys.ticket_file), so it cannot restore the credentials of a redirect.";

/** A new ticket of the front door would be good where the ticket itself was too old or used. */
const HELPED_BY_ANOTHER: ReadonlySet<TicketRefusal["reason"]> = new Set(["expired", "replayed"]);

const refusalOf = (refusal: TicketRefusal): Refused =>
  problem(`ticket-${refusal.reason}`, ticketRefusalText(refusal), HELPED_BY_ANOTHER.has(refusal.reason));

const problem = (code: ProblemCode, detail: string, shouldRetry: boolean): Refused => ({
  kind: "problem",
  problem: { code, detail, shouldRetry, retryAfterMs: null },
});
