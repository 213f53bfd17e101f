/** Waits until the conversations that a drain moves have left. */
import type { Invocation } from "./api-command.ts";
import { CliFailure, EXIT } from "./failure.ts";
import { age, count } from "./quantity.ts";
import { planOf, type RegionOrder } from "./region-order.ts";

const POLL_MS = 2_000;

/** @throws {CliFailure} wait timed out */
export const waitUntilLeft = async (invocation: Invocation, order: RegionOrder, deadlineMs: number): Promise<void> => {
  const { io } = invocation;
  const startedAtMs = io.epochMs();
  let told: number | null = null;
  for (;;) {
    const { pinned } = (await planOf(invocation, order)).plan.conversations;
    if (pinned === 0) {
      io.tell(`No pinned conversation is at home in ${order.region} any more.\n`);
      return;
    }
    const waitedMs = io.epochMs() - startedAtMs;
    if (pinned !== told) io.tell(`${leftText(pinned, order)} (${age(waitedMs)})\n`);
    told = pinned;
    if (waitedMs + POLL_MS > deadlineMs) {
      throw new CliFailure(EXIT.waitTimedOut, `after ${age(waitedMs)} ${leftText(pinned, order)}; the drain goes on`);
    }
    await io.sleep(POLL_MS);
  }
};

const leftText = (pinned: number, { region }: RegionOrder): string =>
  `${count(pinned)} pinned ${pinned === 1 ? "conversation is" : "conversations are"} still at home in ${region}`;
