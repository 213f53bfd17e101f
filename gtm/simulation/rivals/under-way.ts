/** Requests that were sent to each region and have not ended: counted without delay, as a router in the path counts them. */
import type { Asked } from "../rival.ts";

export type UnderWay = {
  readonly sent: (turn: Asked, region: number) => void;
  readonly ended: (turn: Asked) => void;
  readonly count: (region: number) => number;
};

export const createUnderWay = (regions: number): UnderWay => {
  const counts = new Array<number>(regions).fill(0);
  const regionOf = new Map<string, number>();
  const ended = (turn: Asked): void => {
    const region = regionOf.get(keyOf(turn));
    if (region === undefined) return;
    regionOf.delete(keyOf(turn));
    counts[region] = (counts[region] ?? 0) - 1;
  };
  return {
    sent: (turn, region) => {
      // Sent again, after an attempt that failed.
      ended(turn);
      regionOf.set(keyOf(turn), region);
      counts[region] = (counts[region] ?? 0) + 1;
    },
    ended,
    count: (region) => counts[region] ?? 0,
  };
};

export const keyOf = ({ conversation, turn }: Asked): string => `${conversation}/${turn}`;
