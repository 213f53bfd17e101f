/** Tickets for tests: claims of a chat's turn, a sealer and the openers of two regions. */
import { RegionId } from "#shared/ids.ts";
import { createTicketOpener, createTicketSealer, TicketClaims, type TicketOpener } from "#shared/ticket.ts";
import { ticketKeysById, ticketRingOf } from "#shared/ticket-keys.ts";
import type { TicketMemory } from "#shared/ticket-memory.ts";
import { ringKey } from "./key-folder.ts";

export const FRANKFURT = RegionId.parse("frankfurt");
export const PARIS = RegionId.parse("paris");
export const SECRET = "Bearer sk-a-secret-of-the-client";
export const HOST = "frankfurt.r.llm.example.org";
export const PATH = "/v1/chat/completions?trace=1";
export const ASKED = { method: "POST", host: HOST, path: PATH };
/** A whole second. */
export const SEALED_AT_MS = 1_796_000_000_000;
export const TICKET_RING = [ringKey(7)];

export const ticketClaims = (wish: object = {}): TicketClaims =>
  TicketClaims.parse({
    v: 1,
    method: "POST",
    host: HOST,
    path: PATH,
    pool: "chat",
    model: "llama-70b",
    conversation: "0123456789abc",
    pin: `p1${"a".repeat(40)}`,
    decision: "01JDXV3Z000000000000000001",
    predictedTtftMs: 180.5,
    clientPrefix: "192.0.2.0/24",
    headers: [["authorization", SECRET]],
    alternates: [{ region: "paris", origin: "https://paris.r.llm.example.org" }],
    outputTokens: 256,
    promptTokens: 20_000,
    ...wish,
  });

export const sealedTicket = (wish: object = {}, atMs = SEALED_AT_MS): Promise<string> =>
  createTicketSealer(TICKET_RING).seal(FRANKFURT, ticketClaims(wish), atMs);

export const openerOf = (region: RegionId = FRANKFURT, memory?: TicketMemory): TicketOpener =>
  createTicketOpener({
    keys: ticketKeysById(ticketRingOf(TICKET_RING, region), region),
    region,
    ...(memory === undefined ? {} : { memory }),
  });
