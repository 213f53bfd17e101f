/** An hour of a hundred steady SDK conversations, a second for each minute: who fails, and who changes region. */
import { setTimeout as pause } from "node:timers/promises";
import { ENGINE_KEY } from "#deploy/demo/places.ts";
import { FOUR_WAYS, wayOf } from "#test/support/four-ways.ts";
import { anthropicSdk, openaiSdk, type SdkTurn, startChat } from "#test/support/sdk-turns.ts";
import { type SteeredRegions, startSteeredRegions } from "#test/support/steered-regions.ts";
import { STEERED_SITES } from "#test/support/steered-settings.ts";
import { openZoneClient, type ZoneClient } from "#test/support/zone-client.ts";
import type { BenchRow } from "./bench.ts";

const CONVERSATIONS = 100;
/** Three minutes of reading and writing between two turns. */
const THINK_MS = 3_000;
const HOUR_MS = 60_000;
/** They begin within the first third of the hour. */
const BEGIN_MS = 20_000;
/** Half a second of a replica's work. */
const FIRST_TOKENS = 4_000;
const MORE_TOKENS = 60;
const KEPT_FRACTION = 0.9;

type Outcome = { readonly name: string; readonly turns: readonly SdkTurn[]; readonly faults: readonly string[] };

export const steadyHour = async (): Promise<readonly BenchRow[]> => {
  await using house = await startSteeredRegions();
  await using client = openZoneClient({ ...house, keepsAnswers: true });
  const endMs = performance.now() + HOUR_MS;
  const outcomes = await Promise.all(
    Array.from({ length: CONVERSATIONS }, (_, at) => converse(at, house, client, endMs)),
  );
  const faults = outcomes.flatMap((one) => one.faults);
  for (const fault of new Set(faults)) process.stderr.write(`a turn failed: ${fault}\n`);
  const turns = outcomes.flatMap((one) => one.turns);
  const moved = outcomes.filter((one) => new Set(one.turns.map(({ region }) => region)).size > 1);
  for (const one of moved)
    process.stderr.write(`moved: ${one.name}: ${one.turns.map(({ region }) => region).join(" ")}\n`);
  const follow = outcomes.flatMap((one) => one.turns.slice(1).map((turn, at) => ({ turn, before: one.turns[at] })));
  const kept = follow.filter(
    ({ turn, before }) => turn.cachedTokens >= KEPT_FRACTION * (before?.promptTokens ?? Number.POSITIVE_INFINITY),
  );
  const row = (what: string, value: number, unit: string, bound: string | null): BenchRow => ({
    ...{ what, value, unit, bound, against: null, ratio: null },
  });
  return [
    row("an hour of 100 conversations: turns", turns.length, "turns", null),
    row("an hour of 100 conversations: turns that failed", faults.length, "turns", "≤ 0"),
    row("an hour of 100 conversations: that changed region", moved.length, "conversations", "≤ 0"),
    row("… follow-ups that found 0.9 of what was said", kept.length / follow.length, "of them", null),
  ];
};

const converse = async (at: number, house: SteeredRegions, client: ZoneClient, endMs: number): Promise<Outcome> => {
  const site = STEERED_SITES[at % STEERED_SITES.length] ?? STEERED_SITES[0];
  const way = FOUR_WAYS[at % FOUR_WAYS.length] ?? "ticket";
  const wish = { apiKey: ENGINE_KEY, fetch: client.fetch };
  const name = `conversation ${at} by ${way} near ${site.id}`;
  const aim = wayOf(way, house, wish, { conversation: name, from: site.client });
  const chat = startChat((at % 2 === 0 ? openaiSdk : anthropicSdk)(wish), name);
  const turns: SdkTurn[] = [];
  const faults: string[] = [];
  await pause((at / CONVERSATIONS) * BEGIN_MS);
  while (performance.now() < endMs) {
    try {
      turns.push(await chat.say(await aim(), turns.length === 0 ? FIRST_TOKENS : MORE_TOKENS));
    } catch (fault) {
      faults.push(`${name}: ${String(fault)}`);
    }
    await pause(THINK_MS);
  }
  return { name, turns, faults };
};
