/** One GTM's sends as the others read them: summed by slots of arrival, times as ages, so that clocks need not agree. */
import type { SendTo } from "#gtm/domain/sends.ts";
import type { LiveTokens } from "#gtm/domain/world-assembly.ts";
import type { SentRecord } from "#shared/records.ts";

const SLOT_MS = 100;

export const sentRecord = (sent: {
  readonly sends: readonly SendTo[];
  readonly live: readonly LiveTokens[];
  readonly cells: SentRecord["cells"];
  readonly nowMs: number;
}): SentRecord => {
  const slots = new Map<string, SentRecord["sends"][number]>();
  for (const { region, model, send } of sent.sends) {
    const slot = Math.floor(send.arrivalAtMs / SLOT_MS);
    const key = `${region}|${send.replica ?? ""}|${slot}|${model}`;
    const sofar = slots.get(key)?.workMs ?? 0;
    slots.set(key, {
      region,
      model,
      replica: send.replica,
      // The slot's end: never before the arrival, or a report made in between would seem to have seen it.
      arrivalAgeMs: sent.nowMs - (slot + 1) * SLOT_MS,
      workMs: sofar + send.workMs,
    });
  }
  return { v: 1, sends: [...slots.values()], live: [...sent.live], cells: [...sent.cells] };
};
