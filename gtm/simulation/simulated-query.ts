/** A simulated turn in the words that steering is asked in. */
import type { Client } from "#gtm/domain/client.ts";
import { hash32 } from "#gtm/domain/hash.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { Cell } from "#gtm/steering/cell.ts";
import type { Query } from "#gtm/steering/ports.ts";
import { type ConversationId, type DecisionId, PoolName } from "#shared/ids.ts";
import type { City } from "./cities.ts";
import { SIMULATED } from "./region-reporter.ts";
import type { Asked } from "./rival.ts";
import type { Scenario } from "./scenario.ts";

export const poolOf = ({ fleet }: Pick<Scenario, "fleet">): Pool => ({
  name: PoolName.parse("simulated"),
  models: [SIMULATED],
  regions: fleet.map(({ site }) => site.id),
  jurisdictions: null,
  lastResort: { kind: "servfail" },
  answer: "regions",
  paths: ["/v1"],
  mode: "redirect",
  sharesResponses: false,
  steering: "enforce",
});

type Asking = { readonly pool: Pool; readonly decisions: number; readonly nowMs: number };

export const turnQueryOf = (
  turn: Asked,
  { pool, decisions, nowMs }: Asking,
): Query & { readonly conversationId: ConversationId } => ({
  ...SILENT,
  id: decisionIdOf(decisions),
  kind: "turn",
  pool,
  model: SIMULATED,
  clientSubnet: networkOf(turn.city),
  conversationId: conversationIdOf(turn.conversation),
  parentId: turn.parent === null ? null : conversationIdOf(turn.parent),
  promptTokens: turn.promptTokens,
  receivedAtMs: nowMs,
});

export const cellQueryOf = (cell: Cell, decisions: number, nowMs: number): Query => ({
  ...SILENT,
  id: decisionIdOf(decisions),
  kind: "cell",
  ...{ pool: cell.pool, model: cell.model },
  clientSubnet: cell.area,
  conversationId: null,
  parentId: null,
  promptTokens: null,
  receivedAtMs: nowMs,
});

const SILENT = {
  channel: "simulation",
  tenant: "default",
  pinnedTo: null,
  outputTokens: null,
  outputLimitTokens: null,
  stateRegion: null,
} as const;

/** Digits are among the characters of a decision's id, so that nothing has to be checked for each turn. */
const decisionIdOf = (decisions: number): DecisionId => String(decisions).padStart(26, "0") as DecisionId;

/** A label's alphabet is the digits of base 32, and eleven of them write any whole number. */
export const conversationIdOf = (conversation: number): ConversationId =>
  conversation.toString(32).padStart(13, "0") as ConversationId;

/** A city's clients come from one network. */
export const networkOf = (city: City): string => clientOf(city).subnet;

/** Made once a city: each turn asks for it several times. */
const clients = new WeakMap<City, Client>();

export const clientOf = (city: City): Client => {
  const known = clients.get(city);
  if (known !== undefined) return known;
  const made = clientIn(city);
  clients.set(city, made);
  return made;
};

const clientIn = ({ name, location }: City): Client => {
  const hash = hash32(name);
  return {
    subnet: `10.${(hash >>> 8) & 255}.${hash & 255}.0/24`,
    location,
    area: name,
    place: name,
    source: "static",
    scopePrefixBits: 24,
  };
};
