/** Follows a drain until nothing is held there any more. */
import { OperationView } from "#gtm/wire/admin/operation-view.ts";
import { type Invocation, understood } from "./api-command.ts";
import { CliFailure, EXIT } from "./failure.ts";
import { progressLine } from "./operation-text.ts";
import { age } from "./quantity.ts";

const POLL_MS = 2_000;

/**
 * @param mostMs how long to wait
 * @returns the operation as it ended
 * @throws {CliFailure} wait timed out; precondition, where the drain ended otherwise
 */
export const waitUntilDone = async (invocation: Invocation, id: string, mostMs: number): Promise<OperationView> => {
  const { io, client } = invocation;
  const startedAtMs = io.epochMs();
  let told = "";
  for (;;) {
    const { body } = await client.call({ method: "GET", path: operationPath(id) });
    const operation = understood(OperationView, body);
    const waitedMs = io.epochMs() - startedAtMs;
    if (operation.state === "verified-empty") {
      io.tell(`${operation.because} (${age(waitedMs)})\n`);
      return operation;
    }
    if (operation.state !== "running")
      throw new CliFailure(EXIT.precondition, `the drain ended otherwise (${operation.state}): ${operation.because}`);
    const line = progressLine(operation);
    const key = JSON.stringify([operation.left, operation.because]);
    if (key !== told) io.tell(`${line} (${age(waitedMs)})\n`);
    told = key;
    if (waitedMs + POLL_MS > mostMs)
      throw new CliFailure(EXIT.waitTimedOut, `after ${age(waitedMs)} ${line}; the drain goes on`);
    await io.sleep(POLL_MS);
  }
};

export const operationPath = (id: string): string => `/operations/${encodeURIComponent(id)}`;
