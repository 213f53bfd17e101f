/** A process of the DNS benchmark: keeps so many queries under way until all have been answered. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mixedQueries } from "./dns-subject.ts";

export type LoadOrder = { readonly port: number; readonly queries: number };
export type LoadDone = {
  readonly elapsedMs: number;
  /** NOERROR, without TC, with at least one record. */
  readonly answered: number;
  readonly other: number;
};

const UNDER_WAY = 64;
/** Nothing is lost on loopback unless a buffer overflows; then the window is filled again. */
const LOST_AFTER_MS = 500;

const queries = mixedQueries();

/** An echoed query counts as an answer, or the echo would have none. */
const isAnswer = (reply: Buffer): boolean =>
  (reply.readUInt16BE(2) & 0x020f) === 0 && (reply.readUInt16BE(2) < 0x8000 || reply.readUInt16BE(6) > 0);

const load = async ({ port, queries: wanted }: LoadOrder): Promise<LoadDone> => {
  const socket = createSocket("udp4");
  socket.connect(port, "127.0.0.1");
  await once(socket, "connect");
  let at = Math.floor((process.pid * 977) % queries.length);
  let answered = 0;
  let other = 0;
  let lastAtMs = performance.now();
  const done = Promise.withResolvers<void>();
  const send = (): void => {
    at = (at + 1) % queries.length;
    socket.send(queries[at] ?? Buffer.alloc(0));
  };
  socket.on("message", (reply) => {
    if (isAnswer(reply)) answered += 1;
    else other += 1;
    lastAtMs = performance.now();
    if (answered + other >= wanted) done.resolve();
    else send();
  });
  const refill = setInterval(() => {
    if (performance.now() - lastAtMs < LOST_AFTER_MS) return;
    for (let i = 0; i < UNDER_WAY; i++) send();
  }, LOST_AFTER_MS);
  const startedAtMs = performance.now();
  for (let i = 0; i < UNDER_WAY; i++) send();
  await done.promise;
  const elapsedMs = performance.now() - startedAtMs;
  clearInterval(refill);
  socket.close();
  return { elapsedMs, answered, other };
};

process.on("message", (order: LoadOrder) => {
  void load(order).then((done) => process.send?.(done));
});
process.on("disconnect", () => process.exit());
process.send?.({ ready: true });
