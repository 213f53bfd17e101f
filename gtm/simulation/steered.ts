/** This GTM as a policy under comparison: the production decision on a world that the production assembly makes. */
import type { Client } from "#gtm/domain/client.ts";
import { type Decision, regionOf } from "#gtm/domain/decision.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import type { Query } from "#gtm/steering/ports.ts";
import { decisionOf } from "#gtm/steering/steer.ts";
import { turnOf } from "#gtm/steering/turn.ts";
import { ConversationId, DecisionId, PoolName } from "#shared/ids.ts";
import type { City } from "./cities.ts";
import { createLedger } from "./ledger.ts";
import { type Eyes, replicaId } from "./region-reporter.ts";
import { createReportedWorld, SIMULATED } from "./reported-world.ts";
import type { AskedTurn, Rival, Stage } from "./rival.ts";
import type { EngineOptions } from "./serving/engine-options.ts";

const POLICY = DEFAULT_POLICY;

export const createSteeredRival = (stage: Stage, engine: EngineOptions, eyes: Eyes): Rival => {
  const { agenda, sites } = stage;
  const ledger = createLedger({ ...POLICY, model: SIMULATED });
  const pool = poolOf(stage);
  const { world, sent } = createReportedWorld(stage, { engine, eyes, policy: POLICY, live: ledger.live });
  let decisions = 0;

  const decide = (turn: AskedTurn): Decision => {
    decisions += 1;
    const now = world();
    const query = queryOf(turn, { pool, decisions, nowMs: agenda.nowMs() });
    const conversation = ledger.find(conversationId(turn.conversation));
    return decisionOf(query, turnOf(query, clientOf(turn.city), conversation, now, POLICY), now, POLICY);
  };
  const record = (decision: Decision, turn: AskedTurn): number => {
    const region = regionOf(decision.verdict);
    const index = sites.findIndex((site) => site.id === region);
    const chosen = decision.considered.find((one) => one.region === region);
    if (region === null || chosen?.kind !== "candidate")
      throw new Error("no region may serve in a simulation of health");
    const { plan } = chosen;
    const send = { replica: plan.holder, arrivalAtMs: plan.arrivalAtMs, workMs: plan.workMs };
    sent({ region, model: SIMULATED, send });
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

export const poolOf = ({ sites }: Pick<Stage, "sites">): Pool => ({
  name: PoolName.parse("simulated"),
  models: [SIMULATED],
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
  model: SIMULATED,
  tenant: "default",
  clientSubnet: SUBNET,
  conversationId: conversationId(turn.conversation),
  pinnedTo: null,
  promptTokens: turn.promptTokens,
  outputTokens: null,
  outputLimitTokens: null,
  parentId: null,
  stateRegion: null,
  receivedAtMs: nowMs,
});

/** A label's alphabet is the digits of base 32. */
const conversationId = (conversation: number): ConversationId =>
  ConversationId.parse(conversation.toString(32).padStart(13, "0"));

const SUBNET = "192.0.2.0/24";

export const clientOf = ({ name, location }: City): Client => ({
  subnet: SUBNET,
  location,
  area: name,
  place: name,
  source: "static",
  scopePrefixBits: 24,
});
