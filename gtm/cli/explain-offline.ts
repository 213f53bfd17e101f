/** Decides a snapshot's question again, with the code that decides, and says where it differs from what was decided. */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Pool } from "#gtm/domain/pool.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Query } from "#gtm/steering/ports.ts";
import { clientSubnetOf } from "#gtm/wire/admin/client-subnet.ts";
import type { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { withAdmin } from "#gtm/wire/admin/order-plan.ts";
import { instant } from "#gtm/wire/admin/quantity-text.ts";
import type { Facts, Snapshot } from "#gtm/wire/admin/snapshot.ts";
import { decideAgain } from "#gtm/wire/admin/snapshot-decision.ts";
import { WhatIfBody } from "#gtm/wire/admin/what-if.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { CliIo } from "./io.ts";
import type { Question } from "./question.ts";
import { readSnapshot } from "./snapshot-file.ts";

export type OfflineChanges = {
  readonly region: Readonly<Record<string, string>>;
  readonly policy: Readonly<Record<string, number>>;
};

/** @throws {CliFailure} usage, where the snapshot cannot answer the question */
export const explainOffline = async (
  path: string,
  asked: Question & OfflineChanges,
  io: CliIo,
): Promise<DecisionSchema> => {
  const { snapshot, facts } = readSnapshot(path);
  const wish = WhatIfBody.safeParse({ regions: asked.region, policy: asked.policy });
  if (!wish.success) throw new CliFailure(EXIT.usage, z.prettifyError(wish.error).replaceAll("\n", " "));
  const { regions, policy } = wish.data;
  const query = queryOf(facts, asked);
  const world = (before: World): World =>
    Object.entries(regions).reduce((now, [id, admin]) => withAdmin(now, regionIn(facts, id), admin), before);
  const decision = await decideAgain(facts, snapshot.epochMs, { query, policy: known(policy), world });
  io.tell(`Decided again by the world of ${snapshot.instance} at ${instant(snapshot.at)}.\n`);
  const isChanged = Object.keys({ ...regions, ...policy, ...query }).length > 0;
  if (isChanged) io.tell(`It was ${outcomeOf(snapshot.decision)}, it would be ${outcomeOf(decision)}.\n`);
  else if (!isDeepStrictEqual(JSON.parse(JSON.stringify(decision)), snapshot.decision)) tellDifference(snapshot, io);
  return decision;
};

const outcomeOf = ({ verdict }: Pick<DecisionSchema, "verdict">): string =>
  `${verdict.kind} → ${verdict.region ?? "nowhere"}`;

const tellDifference = ({ version, decision }: Snapshot, io: CliIo): void =>
  io.tell(
    `That GTM (version ${version}) decided otherwise: ${outcomeOf(decision)}, or with other numbers; -o json shows them, and the file what it said.\n`,
  );

/** What was said of the question beside what the snapshot asks. */
const queryOf = ({ query, pools, models }: Facts, asked: Question): Partial<Query> => {
  mustBeAsked("--client", asked.client, (client) => clientSubnetOf(client) === query.clientSubnet, query.clientSubnet);
  const { conversationId } = query;
  mustBeAsked("--conversation", asked.conversation, (id) => id === conversationId, conversationId ?? "none");
  const pool = asked.pool === undefined ? query.pool : named(pools, asked.pool);
  const model = models.find((one) => one.id === asked.model || one.aliases.includes(asked.model ?? ""));
  if (asked.model !== undefined && (model === undefined || !pool.models.includes(model.id))) {
    throw new CliFailure(EXIT.usage, `--model: pool ${pool.name} has ${pool.models.join(", ")}, not ${asked.model}`);
  }
  return {
    ...(asked.pool === undefined ? {} : { pool, model: null }),
    ...(model === undefined ? {} : { model: model.id }),
    ...(asked.tenant === undefined ? {} : { tenant: asked.tenant }),
    ...(asked.promptTokens === undefined ? {} : { promptTokens: asked.promptTokens }),
    ...(asked.outputTokens === undefined ? {} : { outputTokens: asked.outputTokens }),
  };
};

const mustBeAsked = (
  option: string,
  asked: string | undefined,
  isIt: (asked: string) => boolean,
  holds: string,
): void => {
  if (asked === undefined || isIt(asked)) return;
  throw new CliFailure(
    EXIT.usage,
    `${option}: the snapshot is of ${holds} and knows nothing of ${asked}; take another`,
  );
};

const named = (pools: readonly Pool[], name: string): Pool => {
  const pool = pools.find((one) => one.name === name);
  if (pool !== undefined) return pool;
  throw new CliFailure(EXIT.usage, `--pool: the snapshot has ${pools.map((one) => one.name).join(", ")}, not ${name}`);
};

const regionIn = ({ world }: Facts, id: string) => {
  const region = world.regions.find((one) => one.id === id);
  if (region !== undefined) return region.id;
  const there = world.regions.map((one) => one.id).join(", ");
  throw new CliFailure(EXIT.usage, `--region: the snapshot has ${there}, not ${id}`);
};

const known = <Value>(fields: Readonly<Record<string, Value | undefined>>): Readonly<Record<string, Value>> =>
  Object.fromEntries(Object.entries(fields).filter((field): field is [string, Value] => field[1] !== undefined));
