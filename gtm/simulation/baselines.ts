/** What is done today where nobody knows who holds what: policies to compare with. */
import { greatCircleRttMs } from "#gtm/domain/topology.ts";
import type { AskedTurn, Rival, Stage } from "./rival.ts";

/** Each turn to the next region. */
export const createRoundRobinRival = ({ sites }: Stage): Rival => {
  let turn = -1;
  return {
    choose: () => {
      turn = (turn + 1) % sites.length;
      return turn;
    },
    onFinished: () => {},
  };
};

/** Each turn to the region with the fewest requests under way, known exactly; of equals to the nearest. */
export const createLeastRequestsRival = (stage: Stage): Rival => {
  const underWay = stage.sites.map(() => 0);
  return {
    choose: (turn) => {
      const least = Math.min(...underWay);
      const chosen = nearest(turn, stage).find((region) => underWay[region] === least) ?? 0;
      underWay[chosen] = (underWay[chosen] ?? 0) + 1;
      return chosen;
    },
    onFinished: ({ region }) => {
      underWay[region] = (underWay[region] ?? 0) - 1;
    },
  };
};

/** The first turn to the nearest region, all others where the first went. */
export const createStickyRival = (stage: Stage): Rival => ({
  choose: (turn) => turn.previous ?? nearest(turn, stage)[0] ?? 0,
  onFinished: () => {},
});

/** Indices of the regions, nearest first. */
const nearest = ({ city }: AskedTurn, { sites }: Stage): readonly number[] => {
  const rttMs = sites.map(({ location }) =>
    location === null ? Number.POSITIVE_INFINITY : greatCircleRttMs(city.location, location),
  );
  return sites.map((_, index) => index).sort((a, b) => (rttMs[a] ?? 0) - (rttMs[b] ?? 0));
};
