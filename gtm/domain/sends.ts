/** Turns on their way to regions, of all GTMs together. */
import type { ModelId, RegionId } from "#shared/ids.ts";
import type { Send } from "./serving.ts";
import type { SendList } from "./world.ts";

export type SendTo = { readonly region: RegionId; readonly model: ModelId; readonly send: Send };

const NO_SENDS: readonly Send[] = [];

/** Sends that have arrived, by where. */
export const sendsByPlacement = (
  sends: readonly SendTo[],
  nowMs: number,
): ((region: RegionId, model: ModelId) => readonly Send[]) => {
  const byRegion = new Map<RegionId, Map<ModelId, Send[]>>();
  for (const { region, model, send } of sends) {
    if (send.arrivalAtMs > nowMs) continue;
    const byModel = byRegion.get(region) ?? new Map<ModelId, Send[]>();
    byRegion.set(region, byModel);
    const list = byModel.get(model) ?? [];
    byModel.set(model, list);
    list.push(send);
  }
  return (region, model) => byRegion.get(region)?.get(model) ?? NO_SENDS;
};

/** Sends still on their way at `nowMs`, the latest arrival first. */
export const sendListOf = (sends: readonly SendTo[], nowMs: number): SendList | null => {
  let list: SendList | null = null;
  const coming = sends.filter(({ send }) => send.arrivalAtMs > nowMs);
  for (const { region, model, send } of coming.sort(compare)) list = { region, model, send, earlier: list };
  return list;
};

/** By arrival; of equal arrivals the order must not depend on who was heard first. */
const compare = (a: SendTo, b: SendTo): number =>
  a.send.arrivalAtMs - b.send.arrivalAtMs ||
  compareText(a.region, b.region) ||
  compareText(a.model, b.model) ||
  compareSends(a.send, b.send);

/** Of sends that arrive at one placement at once. */
export const compareSends = (a: Send, b: Send): number =>
  compareText(a.replica ?? "", b.replica ?? "") || a.workMs - b.workMs;

const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
