/** `/healthz`, which the GTMs' probes ask: 200 while the gateway can serve, else 503 with the reasons. */
import type { ServerResponse } from "node:http";
import type { Drain } from "./drain.ts";
import type { Replicas } from "./ports.ts";

export const HEALTH_PATH = "/healthz";

/** @returns none: it can serve */
export const reasonsAgainst = (replicas: Pick<Replicas, "answering">, drain: Pick<Drain, "why">): readonly string[] => {
  const why = drain.why();
  return [...(why === null ? [] : [why]), ...(replicas.answering() === 0 ? ["no engine answers"] : [])];
};

/** @param own names and values in turn */
export const answerHealth = (outgoing: ServerResponse, reasons: readonly string[], own: readonly string[]): void => {
  const body = `${reasons.length === 0 ? "ok" : reasons.join("\n")}\n`;
  outgoing.writeHead(reasons.length === 0 ? 200 : 503, [
    ...["Content-Type", "text/plain; charset=utf-8", "Content-Length", `${body.length}`, "Cache-Control", "no-store"],
    ...own,
  ]);
  outgoing.end(body);
};
