/** A scenario small enough to be read: two or three regions, some clients that chat, and policies that do as they are told. */

import type { City } from "#gtm/simulation/cities.ts";
import { createDice } from "#gtm/simulation/dice.ts";
import { playScenario } from "#gtm/simulation/play-scenario.ts";
import type { PlayedTotals } from "#gtm/simulation/play-totals.ts";
import type { Contender, CreateContender } from "#gtm/simulation/rival.ts";
import type { FleetRegion, Scenario } from "#gtm/simulation/scenario.ts";
import { BLOCK_TOKENS, chainHash, ROOT_HASH } from "#gtm/simulation/serving/block-hash.ts";
import { DEFAULT_ENGINE } from "#gtm/simulation/serving/engine-options.ts";
import type { Client, PlannedTurn, Traffic } from "#gtm/simulation/traffic.ts";
import type { LostTurn, TurnRecord } from "#gtm/simulation/turn-record.ts";
import { RegionId } from "#shared/ids.ts";

export const BERLIN: City = { name: "Berlin", location: { latitude: 52.52, longitude: 13.4 }, weight: 1 };
export const BOSTON: City = { name: "Boston", location: { latitude: 42.36, longitude: -71.06 }, weight: 1 };

export const region = (id: string, longitude: number): FleetRegion => ({
  site: {
    id: RegionId.parse(id),
    location: { latitude: 50, longitude },
    jurisdiction: null,
    endpoint: { url: `https://${id}.example.org`, ipv4: [], ipv6: [] },
    alpn: [],
    hasAffinity: true,
    hasGateway: false,
  },
  replicas: 2,
  engine: { ...DEFAULT_ENGINE, kvTokens: 100_000 },
  placement: "loaded",
});

export const EAST = 0;
export const WEST = 1;

/** Clients that come each half second, ask `turns` prompts of 2 000 tokens and more, and think for `thinkMs`. */
export const chats = (seed: number, clients: number, turns = 4, thinkMs = 5_000): Traffic => ({
  blockTokens: BLOCK_TOKENS,
  *clients() {
    for (let number = 0; number < clients; number++)
      yield chat(createDice(seed * 1_000 + number), number, turns, thinkMs);
  },
});

const chat = (dice: () => number, number: number, turns: number, thinkMs: number): Client => {
  let turn = 0;
  let promptTokens = 2_000 + Math.floor(dice() * 1_000);
  const blocks: number[] = [];
  return {
    city: number % 2 === 0 ? BERLIN : BOSTON,
    lastMileMs: 10,
    startsAtMs: number * 500,
    next: (): PlannedTurn | null => {
      if (turn === turns) return null;
      turn += 1;
      const planned = { conversation: number, parent: null, turn, promptTokens, outputTokens: 50, blocks };
      promptTokens += 200;
      while (blocks.length < promptTokens / BLOCK_TOKENS) {
        blocks.push(chainHash(blocks.at(-1) ?? ROOT_HASH, [number], 0, 1));
      }
      return { ...planned, asks: { kind: "after", thinkMs: thinkMs * (0.5 + dice()) } };
    },
  };
};

/** Two regions, Berlin 20 ms from the first and 90 from the second, Boston the other way round. */
export const small = (changed: Partial<Scenario> = {}): Scenario => ({
  name: "small",
  says: "two regions and forty chats",
  fleet: [region("east", 8), region("west", -77)],
  cities: [BERLIN, BOSTON],
  rttMs: (city, index) => ((city === BERLIN) === (index === EAST) ? 20 : 90),
  traffic: (seed) => chats(seed, 40),
  reporting: { everyMs: 1_000, delayMs: 0, eyes: "gateway" },
  leading: { kind: "redirect", gtms: 1, sharesSends: false },
  routing: "affinity",
  happenings: [],
  warmUpMs: 5_000,
  measuredMs: 60_000,
  sloMs: () => 1_000,
  ...changed,
});

export type Played = {
  readonly records: readonly TurnRecord[];
  readonly lost: readonly LostTurn[];
  readonly totals: PlayedTotals;
};

export const played = (scenario: Scenario, create: CreateContender, seed = 1): Played => {
  const records: TurnRecord[] = [];
  const lost: LostTurn[] = [];
  const totals = playScenario(scenario, create, {
    ...{ seed, onTurn: (record) => records.push(record), onLost: (one) => lost.push(one) },
  });
  return { records, lost, totals };
};

/** Always the nearest that may serve. */
export const nearest: CreateContender = ({ scenario, known }) => ({
  ...SILENT,
  choose: ({ city }) => {
    const open = [...scenario.fleet.keys()].filter(known.mayServe);
    const [first, ...others] = open;
    if (first === undefined) return null;
    const region = others.reduce((a, b) => (known.rttMs(city, b) < known.rttMs(city, a) ? b : a), first);
    return { region, prediction: null, verdict: null };
  },
});

export const always =
  (region: number): CreateContender =>
  () => ({ ...SILENT, choose: () => ({ region, prediction: null, verdict: null }) });

export const SILENT: Contender = {
  choose: () => null,
  onFirstToken: () => undefined,
  onFinished: () => undefined,
  onFailed: () => undefined,
};
