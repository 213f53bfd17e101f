/** One GTM's sends as the others read them: summed by slots of arrival, times as ages, so that clocks need not agree. */
import type { SendTo } from "#gtm/domain/sends.ts";
import type { LiveTokens } from "#gtm/domain/world-assembly.ts";
import type { SentRecord } from "#shared/records.ts";

const SLOT_MS = 100;
/** Of about 120 octets each, written five times a second and read by every other GTM. */
const MOST_SENDS = 2_000;
const MOST_LIVE = 2_000;
/** Coarser than a report's age is not worth telling. */
const COARSEST_SLOT_MS = 1_600;

/** Of more than are told, slots are made longer first; then the least work and the fewest tokens go untold. */
export const sentRecord = (sent: {
  readonly sends: readonly SendTo[];
  readonly live: readonly LiveTokens[];
  readonly cells: SentRecord["cells"];
  readonly said: Pick<SentRecord, "boot" | "version" | "says">;
  readonly nowMs: number;
}): SentRecord => {
  let slotMs = SLOT_MS;
  let sends = inSlots(sent.sends, sent.nowMs, slotMs);
  while (sends.length > MOST_SENDS && slotMs < COARSEST_SLOT_MS) {
    slotMs *= 2;
    sends = inSlots(sent.sends, sent.nowMs, slotMs);
  }
  return {
    v: 1,
    ...sent.said,
    sends: most(sends, MOST_SENDS, ({ workMs }) => workMs),
    live: most(sent.live, MOST_LIVE, ({ tokens }) => tokens),
    cells: [...sent.cells],
  };
};

const inSlots = (sends: readonly SendTo[], nowMs: number, slotMs: number): SentRecord["sends"] => {
  const slots = new Map<string, SentRecord["sends"][number]>();
  for (const { region, model, send } of sends) {
    const slot = Math.floor(send.arrivalAtMs / slotMs);
    const key = `${region}|${send.replica ?? ""}|${slot}|${model}`;
    const sofar = slots.get(key)?.workMs ?? 0;
    slots.set(key, {
      region,
      model,
      replica: send.replica,
      // The slot's end: never before the arrival, or a report made in between would seem to have seen it.
      arrivalAgeMs: nowMs - (slot + 1) * slotMs,
      workMs: sofar + send.workMs,
    });
  }
  return [...slots.values()];
};

const most = <Item>(items: readonly Item[], count: number, weightOf: (item: Item) => number): Item[] =>
  items.length <= count ? [...items] : items.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, count);
