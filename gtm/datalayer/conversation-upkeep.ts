/** What is done about conversations each minute and each two seconds, whoever asks: lists swept of what is over, and a gauge. */
import type { LiveLedger } from "#gtm/domain/live-tokens.ts";
import type { RegionId } from "#shared/ids.ts";
import type { ConversationStoreOptions } from "./conversation-port.ts";
import { sweepHeld, sweepSizes } from "./conversation-sweep.ts";

const SWEEP_EVERY_MS = 60_000;
const COUNT_EVERY_MS = 2_000;

export type ConversationUpkeep = { readonly start: () => void; readonly stop: () => void };

export const createConversationUpkeep = (
  options: Pick<ConversationStoreOptions, "store" | "clock" | "metrics" | "failures" | "regions">,
  live: Pick<LiveLedger, "conversations">,
): ConversationUpkeep => {
  const { store, clock, failures } = options;
  const timers: NodeJS.Timeout[] = [];
  /** How far the lists by size were gone through, a score a region. */
  const sweptTo = new Map<RegionId, number>();
  let counted: readonly RegionId[] = [];
  const conversations = options.metrics.gauge({
    name: "gtm_conversations",
    help: "Conversations that this instance served within the pin's time, by the region of their last turn.",
    labels: ["region"],
  });

  const sweep = async (): Promise<void> => {
    try {
      for (const region of options.regions) {
        await sweepHeld({ store, clock }, region);
        sweptTo.set(region, await sweepSizes({ store, clock }, region, sweptTo.get(region) ?? 0));
      }
    } catch (cause) {
      failures("conversation.sweep", cause);
    }
  };
  const count = (): void => {
    const byRegion = live.conversations(clock.monotonicMs());
    for (const region of counted) if (!options.regions.includes(region)) conversations.remove({ region });
    counted = options.regions;
    for (const region of counted) conversations.set(byRegion.get(region) ?? 0, { region });
  };
  return {
    start: () => {
      count();
      timers.push(
        setInterval(() => void sweep(), SWEEP_EVERY_MS),
        setInterval(count, COUNT_EVERY_MS),
      );
      for (const timer of timers) timer.unref();
    },
    stop: () => {
      for (const timer of timers.splice(0)) clearInterval(timer);
    },
  };
};
