/** A 307 with a ticket against a bare redirect that also reads the body; what sealing and opening take by themselves. */
import { CompactEncrypt } from "jose";
import { createTicketSealer } from "#shared/ticket.ts";
import { ticketKeyOf } from "#shared/ticket-keys.ts";
import {
  ASKED,
  FRANKFURT,
  openerOf,
  SEALED_AT_MS,
  sealedTicket,
  TICKET_RING,
  ticketClaims,
} from "#test/support/tickets.ts";
import { alternate, type Bench, type BenchRow, nsPerIteration } from "./bench.ts";
import { compare } from "./http-compare.ts";

const TICKETS = 5_000;

const CHAT = JSON.stringify({
  model: "llama-70b",
  stream: true,
  max_tokens: 256,
  messages: [{ role: "user", content: "What is the weather like in Frankfurt?" }],
});
const REQUEST = [
  "POST /v1/chat/completions?trace=1 HTTP/1.1",
  "Host: front.llm.example.org",
  "User-Agent: OpenAI/JS 7.59.0",
  "Authorization: Bearer sk-0123456789abcdef0123456789abcdef",
  "X-Conversation-Id: 6f1c2b1e-3c5b-4a6e-9a5e-0f2d3c4b5a69",
  "Content-Type: application/json",
  `Content-Length: ${CHAT.length}`,
  "",
  CHAT,
].join("\r\n");

const sealRow = async (): Promise<BenchRow> => {
  const sealer = createTicketSealer(TICKET_RING);
  const claims = ticketClaims();
  const key = ticketKeyOf(TICKET_RING[0]?.key ?? new Uint8Array(), FRANKFURT);
  const text = new TextEncoder();
  const ours = async (): Promise<number> => (await sealer.seal(FRANKFURT, claims, SEALED_AT_MS)).length;
  const theirs = async (): Promise<number> =>
    (
      await new CompactEncrypt(text.encode(JSON.stringify(claims)))
        .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid: "frankfurt.7" })
        .encrypt(key)
    ).length;
  const microseconds = (seal: () => Promise<number>) => async (): Promise<number> => {
    const loop = async (count: number): Promise<number> => {
      let length = 0;
      for (let at = 0; at < count; at++) length += await seal();
      return length;
    };
    return (await nsPerIteration(TICKETS, loop)) / 1_000;
  };
  const { a, ratio } = await alternate(5, microseconds(ours), microseconds(theirs));
  return { what: "sealing a ticket", value: a, unit: "µs", against: "jose's CompactEncrypt", ratio, bound: "≤ 0.6" };
};

const openRow = async (): Promise<BenchRow> => {
  const opener = openerOf();
  const tickets = await Promise.all(Array.from({ length: TICKETS }, () => sealedTicket()));
  const open = async (): Promise<number> => {
    let opened = 0;
    for (const ticket of tickets) opened += (await opener.open(ticket, ASKED, SEALED_AT_MS)).kind === "opened" ? 1 : 0;
    if (opened !== TICKETS) throw new Error(`opened ${opened} of ${TICKETS}`);
    return opened;
  };
  const value = (await nsPerIteration(1, open)) / TICKETS / 1_000;
  return { what: "opening a ticket", value, unit: "µs", against: null, ratio: null, bound: null };
};

export const bench: Bench = {
  name: "http-ticket",
  run: async () => [
    ...(await compare({
      ...{ what: "307 with a ticket, POST of a chat", request: REQUEST, file: "http-ticket-server.ts" },
      ...{ against: "hono", bound: "≥ 0.6" },
    })),
    await sealRow(),
    await openRow(),
  ],
};
