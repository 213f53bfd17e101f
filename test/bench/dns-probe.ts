/** How long single queries take while a server is under load: one after another, each answered or given up. */
import { createSocket } from "node:dgram";
import { once } from "node:events";

const GIVEN_UP_MS = 1_000;

export type Latencies = { readonly p50Ms: number; readonly p99Ms: number; readonly unanswered: number };

/** @returns null: no answer came, or nobody listens */
export const askOnce = async (port: number, query: Buffer): Promise<Buffer | null> => {
  const socket = createSocket("udp4");
  socket.connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.send(query);
  const answer = await once(socket, "message", { signal: AbortSignal.timeout(GIVEN_UP_MS) }).catch(() => null);
  socket.close();
  return answer === null ? null : (answer[0] as Buffer);
};

/**
 * @param everyMs from one answer to the next query
 * @param until when it is true no more is asked
 */
export const probe = async (
  port: number,
  queries: readonly Buffer[],
  { everyMs, isOver }: { readonly everyMs: number; readonly isOver: () => boolean },
): Promise<readonly number[]> => {
  const socket = createSocket("udp4");
  socket.connect(port, "127.0.0.1");
  await once(socket, "connect");
  const took: number[] = [];
  for (let at = 0; !isOver(); at++) {
    const query = queries[(at * 7_919) % queries.length] ?? Buffer.alloc(0);
    const startedAtMs = performance.now();
    socket.send(query);
    await once(socket, "message", { signal: AbortSignal.timeout(GIVEN_UP_MS) }).catch(() => undefined);
    took.push(performance.now() - startedAtMs);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  socket.close();
  return took;
};

/** @param took ms, at least one */
export const latenciesOf = (took: readonly number[]): Latencies => {
  const sorted = took.toSorted((a, b) => a - b);
  const at = (fraction: number): number => sorted[Math.ceil(sorted.length * fraction) - 1] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99), unanswered: took.filter((ms) => ms >= GIVEN_UP_MS).length };
};
