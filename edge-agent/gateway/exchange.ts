/** One request whose conversation is known, on its way to an engine, or to another region where this one refuses it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TicketClaims } from "#shared/ticket.ts";
import type { Identified } from "./conversation.ts";
import type { Turn } from "./ports.ts";
import type { Body } from "./request-body.ts";

export type Exchange = {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly method: string;
  /** Without parameters of ours. */
  readonly pathAndQuery: string;
  /** Names and values in turn: the client's, without those of its connection, with those that its ticket kept for it. */
  readonly headers: readonly string[];
  readonly body: Extract<Body, { kind: "whole" | "passing" }>;
  readonly turn: Turn;
  readonly identified: Identified;
  readonly claims: TicketClaims | null;
  /** How many gateways refused this turn before: 0, 1 or 2. */
  readonly hop: number;
  /** What every answer gets, names and values in turn; asked when the answer begins. */
  readonly ownHeaders: () => readonly string[];
};

/** Whether the body can be sent (once more). */
export const canSend = ({ body }: Exchange): boolean => body.kind === "whole" || !body.isSent();

export const bodyOf = ({ body }: Exchange) => (body.kind === "whole" ? body.octets : body.send());
