/** A region's replicas in virtual time: conversations come turn by turn, somebody chooses who serves them, engines take their time. */
import type { Passage } from "#edge-agent/gateway/passage.ts";
import type { Turn } from "#edge-agent/gateway/ports.ts";
import type { ReplicaFacts } from "#edge-agent/gateway/replica-facts.ts";
import { createReplicaSet, type ReplicaSet } from "#edge-agent/gateway/replica-set.ts";
import { createDice, logNormal } from "#gtm/simulation/dice.ts";
import { BLOCK_TOKENS, chainHash, ROOT_HASH } from "#gtm/simulation/serving/block-hash.ts";
import { DEFAULT_ENGINE } from "#gtm/simulation/serving/engine-options.ts";
import { createReplica } from "#gtm/simulation/serving/replica.ts";
import type { EngineRequest, ServingEvent } from "#gtm/simulation/serving/request.ts";
import type { ConversationId, ModelId, ReplicaId } from "#shared/ids.ts";

export type PlayOptions = {
  readonly replicas: number;
  readonly users: number;
  readonly turnsEach: number;
  readonly kvTokens: number;
  /** Median time between an answer and the next question, ms. */
  readonly thinkMs: number;
  /** Median prompt of a first turn, and what each further turn adds, in tokens. */
  readonly firstTokens: number;
  readonly growthTokens: number;
  readonly seed: number;
};
export type PlayResult = {
  readonly turns: number;
  readonly meanTtftMs: number;
  readonly p95TtftMs: number;
  readonly promptTokens: number;
  readonly computedTokens: number;
  /** Mean of |measured wait − predicted backlog|, and of the measured wait, ms; of the gateway's own choices. */
  readonly backlogErrorMs: number;
  readonly meanWaitMs: number;
  /** What the gateway measured of each replica at the end, ms per token; null: nothing that it believes. */
  readonly linMs: readonly (number | null)[];
};

export const PLAY_SPEED = DEFAULT_ENGINE.speed;
const MODEL = "model-a" as ModelId;
const idOf = (number: number): ConversationId => number.toString(32).padStart(13, "0") as ConversationId;
const replicaIdOf = (at: number): ReplicaId => `192.0.2.${at + 1}:8000/0` as ReplicaId;

const factsOf = (at: number, kvTokens: number): ReplicaFacts => ({
  id: replicaIdOf(at),
  origin: `http://192.0.2.${at + 1}:8000`,
  model: MODEL,
  names: new Set([MODEL]),
  rank: null,
  isDown: false,
  startedAtMs: null,
  kvCapacityTokens: kvTokens,
  prefillTokensPerSecond: null,
  slots: null,
  isRouter: false,
});

const turnOf = (conversation: ConversationId, promptTokens: number, receivedAtMs: number): Turn => ({
  model: MODEL,
  conversation,
  parent: null,
  pool: null,
  tenantTag: null,
  promptTokens,
  outputTokens: null,
  clientPrefix: null,
  rttMs: null,
  predictedTtftMs: null,
  decision: null,
  path: "/v1/chat/completions",
  receivedAtMs,
});

type Ask = { readonly atMs: number; readonly user: number; readonly left: number; readonly request: EngineRequest };
type Flight = Ask & { readonly passage: Passage | null; readonly expectedWaitMs: number | null };

/** @param how `round-robin`: each in turn; `choice`: the gateway's */
export const playReplicas = (how: "round-robin" | "choice", options: PlayOptions): PlayResult => {
  const dice = createDice(options.seed);
  const engine = { ...DEFAULT_ENGINE, kvTokens: options.kvTokens };
  const engines = Array.from({ length: options.replicas }, () => createReplica(engine, 0));
  const set = createReplicaSet({ factor: 3, floorMs: 2_000 });
  set.learn(new Map(engines.map((_, at) => [replicaIdOf(at), factsOf(at, options.kvTokens)])), 0);
  const flights = new Map<number, Flight>();
  const ttfts: number[] = [];
  const waits: { readonly errorMs: number; readonly waitMs: number }[] = [];
  let [nextId, promptTokens, computedTokens, inTurn, lastAtMs] = [0, 0, 0, -1, 0];

  const ask = (atMs: number, user: number, left: number, tokens: number): Ask => {
    nextId += 1;
    const outputTokens = Math.max(1, Math.round(logNormal(dice, 150, 500)));
    const blocks = blocksOf(user, tokens + outputTokens);
    return {
      atMs,
      user,
      left,
      request: { id: nextId, promptTokens: tokens, outputTokens, finishReason: "stop", blocks },
    };
  };
  const asks: Ask[] = Array.from({ length: options.users }, (_, user) =>
    ask(
      dice() * options.thinkMs,
      user,
      options.turnsEach - 1,
      Math.round(logNormal(dice, options.firstTokens, 3 * options.firstTokens)),
    ),
  );
  const place = (next: Ask): void => {
    if (how === "round-robin") {
      inTurn = (inTurn + 1) % engines.length;
      engines[inTurn]?.submit(next.request, next.atMs);
      flights.set(next.request.id, { ...next, passage: null, expectedWaitMs: null });
      return;
    }
    const turn = turnOf(idOf(next.user), next.request.promptTokens, next.atMs);
    const picked = set.pick(turn, new Set(), next.atMs);
    if (picked.kind === "refused") throw new Error(`refused: ${picked.reason}`);
    const expectedWaitMs = picked.replica.backlogMs(next.atMs);
    const passage = picked.replica.send({ ...turn, outputTokens: null, atMs: next.atMs });
    engines.find((_, at) => replicaIdOf(at) === picked.replica.id)?.submit(next.request, next.atMs);
    flights.set(next.request.id, { ...next, passage, expectedWaitMs });
    passage.began(true);
  };
  const firstToken = (event: Extract<ServingEvent, { kind: "first-token" }>, flight: Flight): void => {
    ttfts.push(event.atMs - event.submittedAtMs);
    promptTokens += event.request.promptTokens;
    computedTokens += event.computedTokens;
    flight.passage?.firstToken(event.atMs);
    const waitMs = event.startedAtMs - event.submittedAtMs;
    if (flight.expectedWaitMs !== null) waits.push({ errorMs: Math.abs(waitMs - flight.expectedWaitMs), waitMs });
  };
  const finished = (event: Extract<ServingEvent, { kind: "finished" }>, flight: Flight): void => {
    flights.delete(event.request.id);
    const { promptTokens: prompt, outputTokens } = event.request;
    const tokens = { promptTokens: prompt, cachedTokens: event.cachedTokens, completionTokens: outputTokens };
    const rest = {
      isCompletionEstimated: false,
      firstContentAtMs: event.firstTokenAtMs,
      responseId: null,
      hasError: false,
    };
    flight.passage?.end({ ...tokens, ...rest }, true, event.atMs);
    if (flight.left === 0) return;
    const grown = prompt + outputTokens + Math.round(logNormal(dice, options.growthTokens, 4 * options.growthTokens));
    asks.push(
      ask(event.atMs + logNormal(dice, options.thinkMs, 4 * options.thinkMs), flight.user, flight.left - 1, grown),
    );
  };
  const happen = (event: ServingEvent): void => {
    const flight = flights.get(event.request.id);
    if (flight === undefined) return;
    if (event.kind === "first-token") firstToken(event, flight);
    if (event.kind === "finished") finished(event, flight);
  };

  while (asks.length > 0 || flights.size > 0) {
    asks.sort((a, b) => a.atMs - b.atMs);
    const askAtMs = asks[0]?.atMs ?? Number.POSITIVE_INFINITY;
    const atMs = Math.min(askAtMs, ...engines.map((one) => one.nextEventAtMs()));
    for (const event of engines.flatMap((one) => one.advanceTo(atMs))) happen(event);
    lastAtMs = atMs;
    const next = askAtMs <= atMs ? asks.shift() : undefined;
    if (next !== undefined) place(next);
  }
  const sorted = [...ttfts].sort((a, b) => a - b);
  return {
    turns: ttfts.length,
    meanTtftMs: mean(ttfts),
    p95TtftMs: sorted[Math.floor(sorted.length * 0.95)] ?? 0,
    promptTokens,
    computedTokens,
    backlogErrorMs: mean(waits.map(({ errorMs }) => errorMs)),
    meanWaitMs: mean(waits.map(({ waitMs }) => waitMs)),
    linMs: linsOf(set, lastAtMs),
  };
};

const linsOf = (set: ReplicaSet, atMs: number): readonly (number | null)[] =>
  set.all().map((one) => {
    const speed = one.speed(atMs);
    return speed.source === "measured" ? speed.linMs : null;
  });
const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

const chains = new Map<number, number[]>();
/** Of one conversation; grows with it. */
const blocksOf = (user: number, tokens: number): readonly number[] => {
  const known = chains.get(user) ?? [];
  chains.set(user, known);
  for (let at = known.length; at < Math.floor(tokens / BLOCK_TOKENS); at++)
    known.push(chainHash(known[at - 1] ?? ROOT_HASH, [user + 1], 0, 1));
  return known.slice(0, Math.floor(tokens / BLOCK_TOKENS));
};
