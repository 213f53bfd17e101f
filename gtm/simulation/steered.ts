/** This GTM as a policy under comparison: the production decision on a world that the production assembly makes. */
import type { Client } from "#gtm/domain/client.ts";
import { type Decision, regionOf } from "#gtm/domain/decision.ts";
import type { HeardReport } from "#gtm/domain/heard-report.ts";
import { NOTHING_LEARNT } from "#gtm/domain/learnt.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { SendTo } from "#gtm/domain/sends.ts";
import { type World, withSend } from "#gtm/domain/world.ts";
import { assembleWorld } from "#gtm/domain/world-assembly.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import type { Query } from "#gtm/steering/ports.ts";
import { decisionOf } from "#gtm/steering/steer.ts";
import { turnOf } from "#gtm/steering/turn.ts";
import { ConversationId, DecisionId, ModelId, PoolName } from "#shared/ids.ts";
import type { City } from "./cities.ts";
import { createLedger } from "./ledger.ts";
import { createReporter, type Eyes, replicaId } from "./region-reporter.ts";
import type { AskedTurn, Rival, Stage } from "./rival.ts";
import type { EngineOptions } from "./serving/engine-options.ts";

const MODEL = ModelId.parse("simulated");
const POLICY = DEFAULT_POLICY;
const REPORT_EVERY_MS = 1_000;
/** By then a report has come that knows of the send. */
const SENDS_KEPT_MS = 30_000;

export const createSteeredRival = (stage: Stage, engine: EngineOptions, eyes: Eyes): Rival => {
  const { agenda, sites, regions } = stage;
  const ledger = createLedger({ ...POLICY, model: MODEL });
  const pool = poolOf(stage);
  const reports = new Map<number, HeardReport>();
  let sends: SendTo[] = [];
  let world: World | null = null;
  let decisions = 0;

  const assemble = (): World => {
    const nowMs = agenda.nowMs();
    sends = sends.filter(({ send }) => send.arrivalAtMs > nowMs - SENDS_KEPT_MS);
    return assembleWorld({
      previous: world,
      nowMs,
      sites,
      models: [{ id: MODEL, aliases: [], weightBytes: null, coldStartMs: null }],
      policy: POLICY,
      reports: [...reports.values()],
      regionsWithAbsentAgents: [],
      probes: new Map(),
      freezes: [],
      regionFreezes: new Map(),
      isStoreUp: true,
      admin: new Map(),
      overrides: [],
      sends,
      live: ledger.live(nowMs),
      heldObserved: [],
      learnt: NOTHING_LEARNT,
    });
  };
  const hear = (index: number, report: (nowMs: number) => HeardReport): void => {
    reports.set(index, report(agenda.nowMs()));
    world = assemble();
    agenda.at(agenda.nowMs() + REPORT_EVERY_MS, () => hear(index, report));
  };
  for (const [index, site] of sites.entries()) {
    const region = regions[index];
    if (region === undefined) throw new Error(`${site.id} is not served`);
    const report = createReporter({ site, region, engine, model: MODEL, eyes });
    // Each region's agent keeps time of its own.
    agenda.at((index * REPORT_EVERY_MS) / sites.length, () => hear(index, report));
  }

  const decide = (turn: AskedTurn): Decision => {
    decisions += 1;
    world ??= assemble();
    const query = queryOf(turn, { pool, decisions, nowMs: agenda.nowMs() });
    const conversation = ledger.find(conversationId(turn.conversation));
    return decisionOf(query, turnOf(query, clientOf(turn.city), conversation, world, POLICY), world, POLICY);
  };
  const record = (decision: Decision, turn: AskedTurn): number => {
    const region = regionOf(decision.verdict);
    const index = sites.findIndex((site) => site.id === region);
    const chosen = decision.considered.find((one) => one.region === region);
    if (region === null || chosen?.kind !== "candidate")
      throw new Error("no region may serve in a simulation of health");
    const { plan } = chosen;
    const send = { replica: plan.holder, arrivalAtMs: plan.arrivalAtMs, workMs: plan.workMs };
    sends.push({ region, model: MODEL, send });
    world = world === null ? null : withSend(world, region, MODEL, send);
    // As the store keeps it where no gateway measures: the answer as long as it is assumed to be.
    const tokens = turn.promptTokens + decision.turn.outputTokens;
    const holding = { region, replica: null, tokens, atMs: agenda.nowMs() };
    ledger.hold(conversationId(turn.conversation), holding);
    return index;
  };

  return {
    choose: (turn) => record(decide(turn), turn),
    onFinished: ({ conversation, region, replica, promptTokens, outputTokens }) => {
      const site = sites[region];
      if (eyes !== "gateway" || site === undefined) return;
      const id = conversationId(conversation);
      ledger.measured(id, site.id, replicaId(site, replica), promptTokens + outputTokens);
    },
  };
};

const poolOf = ({ sites }: Stage): Pool => ({
  name: PoolName.parse("simulated"),
  models: [MODEL],
  regions: sites.map(({ id }) => id),
  jurisdictions: null,
  lastResort: { kind: "servfail" },
  answer: "regions",
  paths: ["/v1"],
  mode: "redirect",
  sharesResponses: false,
});

type Asking = { readonly pool: Pool; readonly decisions: number; readonly nowMs: number };

const queryOf = (turn: AskedTurn, { pool, decisions, nowMs }: Asking): Query => ({
  id: DecisionId.parse(String(decisions).padStart(26, "0")),
  channel: "simulation",
  kind: "turn",
  pool,
  model: MODEL,
  tenant: "default",
  clientSubnet: SUBNET,
  conversationId: conversationId(turn.conversation),
  pinnedTo: null,
  promptTokens: turn.promptTokens,
  outputTokens: null,
  parentId: null,
  stateRegion: null,
  receivedAtMs: nowMs,
});

/** A label's alphabet is the digits of base 32. */
const conversationId = (conversation: number): ConversationId =>
  ConversationId.parse(conversation.toString(32).padStart(13, "0"));

const SUBNET = "192.0.2.0/24";

const clientOf = ({ name, location }: City): Client => ({
  subnet: SUBNET,
  location,
  area: name,
  place: name,
  source: "static",
  scopePrefixBits: 24,
});
