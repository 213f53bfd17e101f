/** A 307 with a ticket against a bare redirect that also reads the body; what sealing and opening take by themselves. */
import { once } from "node:events";
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
import { alternate, type Bench, type BenchRow, median, nsPerIteration } from "./bench.ts";
import { ask, forked } from "./children.ts";
import type { LoadOrder, LoadResult } from "./http-load.ts";
import type { CpuReport } from "./http-ticket-server.ts";

const PAIRS = 6;
const REQUESTS = 4_000;
const CONNECTIONS = 32;
const TICKETS = 5_000;
/** Rounds in front of the counted ones: a service runs for weeks, and both are slower while they are compiled. */
const WARM_UP_ROUNDS = 5;

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

type Server = { readonly port: number; readonly cpu: () => Promise<CpuReport> } & Disposable;

const startServer = async (what: "bare" | "front-door"): Promise<Server> => {
  const server = forked("http-ticket-server.ts", what);
  const [{ port }] = await once(server, "message");
  return { port, cpu: () => ask(server, {}), [Symbol.dispose]: () => server[Symbol.dispose]() };
};

const redirectRows = async (): Promise<readonly BenchRow[]> => {
  using bare = await startServer("bare");
  using front = await startServer("front-door");
  using load = forked("http-load.ts");
  const cpuOf: { front: number[]; bare: number[] } = { front: [], bare: [] };
  const measure = async (server: Server, cpus: number[]): Promise<number> => {
    const before = await server.cpu();
    const order: LoadOrder = { port: server.port, request: REQUEST, connections: CONNECTIONS, requests: REQUESTS };
    const { perSecond } = await ask<LoadResult>(load, order);
    cpus.push(((await server.cpu()).cpuMicroseconds - before.cpuMicroseconds) / REQUESTS);
    return perSecond;
  };
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    await measure(front, []);
    await measure(bare, []);
  }
  const { a, ratio } = await alternate(
    PAIRS,
    () => measure(front, cpuOf.front),
    () => measure(bare, cpuOf.bare),
  );
  const against = "bare hono redirect that reads the body";
  const what = "307 with a ticket, POST of a chat";
  const value = median(cpuOf.front);
  return [
    { what, value: a, unit: "requests/s", against, ratio, bound: "≥ 0.6" },
    { what: `${what}: CPU`, value, unit: "µs", against, ratio: value / median(cpuOf.bare), bound: null },
  ];
};

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
  run: async () => [...(await redirectRows()), await sealRow(), await openRow()],
};
