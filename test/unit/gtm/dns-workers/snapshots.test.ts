import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { AcmeEntry } from "#gtm/datalayer/acme-values.ts";
import { createCellRegions } from "#gtm/datalayer/cell-regions.ts";
import type { Epoch, Facts, ToThread } from "#gtm/dns-workers/messages.ts";
import { createSnapshots } from "#gtm/dns-workers/snapshots.ts";
import type { World } from "#gtm/domain/world.ts";
import { ephemeralLabelKeys } from "#shared/pin-token.ts";
import { aRegion, aWorld, regionId } from "#test/support/builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";

const setting = () => {
  const clock = createManualClock();
  const cells = createCellRegions(clock);
  let world: World = aWorld([aRegion("frankfurt")], { takenAtMs: clock.monotonicMs() });
  let facts: Omit<Facts, "areAgesFrozen"> = {
    degradations: [],
    savedAtMs: null,
    cookieKeys: [],
    labelKeys: ephemeralLabelKeys(),
  };
  const onWorld: ((world: World) => void)[] = [];
  const onChallenge: ((name: string, entries: readonly AcmeEntry[]) => void)[] = [];
  const snapshots = createSnapshots({
    source: { world: () => world, watch: (listener) => onWorld.push(listener) },
    cells,
    challenges: { watch: (listener) => onChallenge.push(listener) },
    facts: () => facts,
    clock,
  });
  const publish = (next: Partial<World> = {}): void => {
    world = { ...world, ...next, version: world.version + 1, takenAtMs: clock.monotonicMs() };
    for (const listener of onWorld) listener(world);
  };
  const aThread = () => {
    const told: ToThread[] = [];
    const tell = (message: ToThread): void => {
      // As it travels.
      told.push(structuredClone(message));
    };
    const kinds = (): string => told.map(({ kind }) => kind).join(" ");
    const epochs = (): readonly Epoch[] => told.flatMap((one) => (one.kind === "epoch" ? [one.epoch] : []));
    return { tell, told, kinds, epochs };
  };
  return {
    ...{ clock, cells, snapshots, publish, aThread },
    setFacts: (some: Partial<typeof facts>) => {
      facts = { ...facts, ...some };
    },
    present: (name: string, entries: readonly AcmeEntry[]) => {
      for (const listener of onChallenge) listener(name, entries);
    },
    hearCell: (cell: string, region: string) => cells.hear([{ cell, region: regionId(region) }]),
  };
};

const A_SECOND = 1_000;

describe("threads that join an empty house", () => {
  it("are told everything at once, and the same", async () => {
    const { snapshots, aThread } = setting();
    const [a, b] = [aThread(), aThread()];
    await Promise.all([snapshots.join(a.tell), snapshots.join(b.tell)]);
    assert.equal(a.kinds(), "facts epoch");
    assert.deepEqual(a.told, b.told);
  });
});

describe("an epoch", () => {
  it("begins a second after the one before, however many worlds come", async () => {
    const { snapshots, aThread, clock, publish } = setting();
    const thread = aThread();
    await snapshots.join(thread.tell);
    for (let i = 0; i < 25; i++) {
      clock.advance(100);
      publish();
    }
    const [first, second, third, ...more] = thread.epochs().map(({ world }) => world.takenAtMs);
    assert.deepEqual(
      [(second ?? 0) - (first ?? 0), (third ?? 0) - (second ?? 0), more.length],
      [A_SECOND, A_SECOND, 0],
    );
  });

  it("begins at once where a region's candidacy changed", async () => {
    const { snapshots, aThread, publish } = setting();
    const thread = aThread();
    await snapshots.join(thread.tell);
    publish({ candidacyVersion: 2 });
    assert.equal(thread.epochs().at(-1)?.world.candidacyVersion, 2);
  });

  it("brings the cells that were sent elsewhere since the last, each once", async () => {
    const { snapshots, aThread, clock, publish, hearCell } = setting();
    const thread = aThread();
    hearCell("before", "frankfurt");
    await snapshots.join(thread.tell);
    hearCell("a", "frankfurt");
    hearCell("a", "virginia");
    hearCell("a", "virginia");
    clock.advance(A_SECOND);
    publish();
    clock.advance(A_SECOND);
    publish();
    assert.deepEqual(
      thread.epochs().map(({ cells }) => cells),
      [[["before", "frankfurt"]], [["a", "virginia"]], []],
    );
  });

  it("leaves out what no cell looks at: turns on their way, however many", async () => {
    const { snapshots, aThread, publish } = setting();
    const thread = aThread();
    await snapshots.join(thread.tell);
    let sends: World["sends"] = null;
    const [region] = [regionId("frankfurt")];
    for (let i = 0; i < 100_000; i++) {
      sends = { region, model: "m" as never, send: { replica: null, arrivalAtMs: i, workMs: 1 }, earlier: sends };
    }
    publish({ sends, candidacyVersion: 2 });
    assert.equal(thread.epochs().at(-1)?.world.sends, null);
  });
});

describe("a thread that joins others", () => {
  it("waits for their next epoch, is told what they are told, and where every cell is", async () => {
    const { snapshots, aThread, clock, publish, hearCell, present } = setting();
    const [first, second] = [aThread(), aThread()];
    await snapshots.join(first.tell);
    present("_acme-challenge.a", [{ value: "v", actor: "lego", untilMs: 9 }]);
    present("_acme-challenge.b", [{ value: "v", actor: "lego", untilMs: 9 }]);
    present("_acme-challenge.b", []);
    hearCell("a", "frankfurt");
    hearCell("b", "virginia");
    const joined = snapshots.join(second.tell);
    await turn();
    await turn();
    assert.deepEqual(second.told, []);
    clock.advance(A_SECOND);
    publish();
    await joined;
    assert.equal(second.kinds(), "facts challenge epoch");
    const [mine, theirs] = [second.epochs().at(-1), first.epochs().at(-1)];
    assert.deepEqual(mine?.world, theirs?.world);
    assert.deepEqual([mine?.atEpochMs, mine?.cells], [theirs?.atEpochMs, theirs?.cells]);
    snapshots.leave(second.tell);
    publish({ candidacyVersion: 2 });
    assert.equal(second.epochs().length, 1);
  });
});

describe("facts and challenges", () => {
  it("are told when they change, not when they do not, and without a new epoch", async () => {
    const { snapshots, aThread, setFacts, publish, present } = setting();
    const thread = aThread();
    await snapshots.join(thread.tell);
    publish();
    publish();
    setFacts({ cookieKeys: [new Uint8Array(16).fill(1)] });
    publish();
    publish({ areAgesFrozen: true });
    present("_acme-challenge.a", []);
    const facts = thread.told.flatMap((one) => (one.kind === "facts" ? [one.facts] : []));
    assert.deepEqual(facts.at(-2)?.cookieKeys, [new Uint8Array(16).fill(1)]);
    assert.equal(facts.at(-1)?.areAgesFrozen, true);
    assert.ok(facts.length <= 4);
    assert.equal(thread.epochs().length, 1);
    assert.equal(thread.told.at(-1)?.kind, "challenge");
  });
});
