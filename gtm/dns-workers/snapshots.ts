/** What threads are told of the GTM, and when: the world in epochs, everything else as soon as it changes. */
import type { AcmeChallenges } from "#gtm/datalayer/acme.ts";
import type { AcmeEntry } from "#gtm/datalayer/acme-values.ts";
import type { CellRegions } from "#gtm/datalayer/cell-regions.ts";
import type { WorldSource } from "#gtm/datalayer/world-source.ts";
import { type Learnt, NOTHING_LEARNT } from "#gtm/domain/learnt.ts";
import type { World } from "#gtm/domain/world.ts";
import { CELL_DECISION_MS } from "#gtm/steering/cell.ts";
import type { Clock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import type { DnsSetup, Epoch, Facts, ToThread } from "./messages.ts";

export type Snapshots = {
  /**
   * From the next epoch on this thread is told what all are told; before that nothing, since it would answer by
   * something that the others do not know of.
   *
   * @returns when it has been told everything
   */
  readonly join: (tell: Tell) => Promise<void>;
  readonly leave: (tell: Tell) => void;
  /** The configuration says this from the next epoch on, which begins with the world that is made of it. */
  readonly settle: (setup: DnsSetup) => void;
};

export type Tell = (message: ToThread) => void;

export type SnapshotOptions = {
  readonly source: Pick<WorldSource, "world" | "watch">;
  readonly cells: Pick<CellRegions, "watch" | "latest">;
  readonly challenges: Pick<AcmeChallenges, "watch">;
  readonly facts: () => Omit<Facts, "areAgesFrozen">;
  readonly clock: Pick<Clock, "epochMs">;
};

const MOST_CELLS = 65_536;
/** Round trips of many networks are much to copy, and change no cell but those of networks from nowhere. */
const LEARNT_EVERY_MS = 10_000;

export const createSnapshots = ({ source, cells, challenges, facts, clock }: SnapshotOptions): Snapshots => {
  const members = new Set<Tell>();
  const joining = new Map<Tell, () => void>();
  const news = new Map<string, RegionId>();
  const presented = new Map<string, readonly AcmeEntry[]>();
  let last: World | null = null;
  let learnt: Learnt = NOTHING_LEARNT;
  let learntAtMs = Number.NEGATIVE_INFINITY;
  let saidFacts = "";
  /** null: what threads are born with. */
  let setup: DnsSetup | null = null;
  let isSetupSaid = true;

  const tellAll = (message: ToThread): void => {
    for (const tell of members) tell(message);
  };
  const factsOf = ({ areAgesFrozen }: World): Facts => ({ ...facts(), areAgesFrozen });
  const beginEpoch = (world: World): void => {
    last = world;
    const epoch = { world: bare(world), atEpochMs: clock.epochMs() };
    const isLearnt = world.learnt !== learnt && world.takenAtMs - learntAtMs >= LEARNT_EVERY_MS;
    if (isLearnt || joining.size > 0) {
      learnt = world.learnt;
      learntAtMs = world.takenAtMs;
    }
    const told: Epoch = { ...epoch, learnt: isLearnt || joining.size > 0 ? learnt : null, cells: [...news] };
    tellAll({ kind: "epoch", epoch: told, setup: isSetupSaid ? null : setup });
    isSetupSaid = true;
    for (const [tell, done] of joining) {
      welcome(tell, { ...epoch, learnt, cells: cellsOf(cells) }, world);
      members.add(tell);
      done();
    }
    joining.clear();
    news.clear();
  };
  const welcome = (tell: Tell, epoch: Epoch, world: World): void => {
    tell({ kind: "facts", facts: factsOf(world) });
    for (const [name, entries] of presented) tell({ kind: "challenge", name, entries });
    tell({ kind: "epoch", epoch, setup });
  };
  const look = (world: World): void => {
    const now = factsOf(world);
    const text = JSON.stringify(now, withOctets);
    if (text !== saidFacts) tellAll({ kind: "facts", facts: now });
    saidFacts = text;
    if (isDue(last, world)) beginEpoch(world);
  };

  source.watch(look);
  cells.watch((cell, region) => {
    // Nobody hears of it: whoever joins is told of all.
    if (members.size > 0) news.set(cell, region);
  });
  challenges.watch((name, entries) => {
    if (entries.length === 0) presented.delete(name);
    else presented.set(name, entries);
    tellAll({ kind: "challenge", name, entries });
  });
  return {
    join: (tell) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      joining.set(tell, resolve);
      // With nobody there to differ from there is nothing to wait for; those that come together begin together.
      setImmediate(() => {
        if (members.size === 0 && joining.size > 0) beginEpoch(source.world());
      });
      return promise;
    },
    settle: (next) => {
      setup = next;
      isSetupSaid = false;
    },
    leave: (tell) => {
      members.delete(tell);
      joining.delete(tell);
    },
  };
};

/** As often as cells may be decided anew; a candidacy at once. */
const isDue = (last: World | null, world: World): boolean =>
  last === null ||
  world.candidacyVersion !== last.candidacyVersion ||
  world.takenAtMs - last.takenAtMs >= CELL_DECISION_MS;

/** Sends are a list as long as what was sent: no cell looks at them. What is learnt goes its own way. */
const bare = (world: World): World => ({ ...world, sends: null, learnt: NOTHING_LEARNT });

/** Oldest first, as they would have been heard of one by one. */
const cellsOf = (cells: Pick<CellRegions, "latest">): Epoch["cells"] =>
  cells
    .latest(MOST_CELLS)
    .map(({ cell, region }) => [cell, region] as const)
    .toReversed();

const withOctets = (_key: string, value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
