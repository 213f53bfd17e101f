/** What a thread knows of the GTM: all of it as the main thread said it last. */
import { type AcmeKnown, createAcmeKnown } from "#gtm/datalayer/acme-known.ts";
import { type Learnt, NOTHING_LEARNT } from "#gtm/domain/learnt.ts";
import type { World } from "#gtm/domain/world.ts";
import type { WhyDegraded } from "#gtm/wire/dns/why.ts";
import type { Clock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import { createLabels, type LabelKeys, type Labels } from "#shared/pin-token.ts";
import type { CellRegion, Epoch, Facts } from "./messages.ts";

export type Mirror = {
  readonly hearEpoch: (epoch: Epoch) => void;
  readonly hearFacts: (facts: Facts) => void;
  readonly challenges: Pick<AcmeKnown, "adopt" | "texts">;
  /** @throws {Error} before the first epoch: nobody is answered then */
  readonly world: () => World;
  readonly epoch: () => Epoch;
  /** Where a cell was sent last, as of this epoch; null: nowhere that anybody remembers. */
  readonly regionOf: (cell: string) => RegionId | null;
  readonly labels: Labels;
  readonly cookieKeys: () => readonly Uint8Array[];
  readonly degraded: () => WhyDegraded;
};

/** As many as the main thread remembers. The oldest goes first, whoever asked for what: all threads forget the same. */
const MOST_CELLS = 65_536;

export const createMirror = (clock: Clock): Mirror => {
  let epoch: Epoch | null = null;
  let world: World | null = null;
  let learnt: Learnt = NOTHING_LEARNT;
  let facts: Facts | null = null;
  let labels: Labels | null = null;
  let labelKeys: LabelKeys | null = null;
  const regions = new Map<string, RegionId>();

  const said = <T>(value: T | null): T => {
    if (value === null) throw new Error("the main thread has not said anything yet");
    return value;
  };
  const remember = ([cell, region]: CellRegion): void => {
    regions.delete(cell);
    regions.set(cell, region);
    const [oldest] = regions.keys();
    if (regions.size > MOST_CELLS && oldest !== undefined) regions.delete(oldest);
  };
  /** Also between two epochs: that facts are old is told at once, and decides nothing. */
  const compose = (): void => {
    if (epoch === null) return;
    world = { ...epoch.world, learnt, areAgesFrozen: facts?.areAgesFrozen ?? epoch.world.areAgesFrozen };
  };
  return {
    hearEpoch: (heard) => {
      learnt = heard.learnt ?? learnt;
      epoch = heard;
      for (const cell of heard.cells) remember(cell);
      compose();
    },
    hearFacts: (heard) => {
      // The keys came as copies: made anew only where they changed, since labels and cookies compute from them.
      const cookieKeys =
        facts !== null && isSame(facts.cookieKeys, heard.cookieKeys) ? facts.cookieKeys : heard.cookieKeys;
      facts = { ...heard, cookieKeys };
      if (labelKeys === null || !isSame(octetsOf(labelKeys), octetsOf(heard.labelKeys))) {
        labelKeys = heard.labelKeys;
        labels = createLabels(labelKeys);
      }
      compose();
    },
    challenges: createAcmeKnown(clock),
    world: () => said(world),
    epoch: () => said(epoch),
    regionOf: (cell) => regions.get(cell) ?? null,
    labels: {
      conversationIdOf: (tenant, name) => said(labels).conversationIdOf(tenant, name),
      mint: (label) => said(labels).mint(label),
      read: (text) => said(labels).read(text),
    },
    cookieKeys: () => said(facts).cookieKeys,
    degraded: () => {
      const { degradations, savedAtMs } = said(facts);
      const nowMs = clock.monotonicMs();
      return {
        degradations: degradations.map(({ what, sinceMs }) => ({ what, ageMs: clock.epochMs() - sinceMs })),
        worldAgeMs: nowMs - (savedAtMs ?? said(world).takenAtMs),
        isWorldSaved: savedAtMs !== null,
      };
    },
  };
};

const octetsOf = ({ identityKey, signingKeys }: LabelKeys): readonly Uint8Array[] => [
  identityKey,
  ...signingKeys.map(({ id, key }) => Uint8Array.of(id, ...key)),
];

const isSame = (before: readonly Uint8Array[], now: readonly Uint8Array[]): boolean =>
  before.length === now.length && before.every((key, i) => Buffer.compare(key, now[i] ?? new Uint8Array()) === 0);
