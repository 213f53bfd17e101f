/** A million conversations as a GTM writes them, for a redis-server that is filled through redis-cli. */
import { createHash } from "node:crypto";
import { type Conversation, contextTokensOf, type Holding } from "#gtm/domain/conversation.ts";
import type { Clock } from "#shared/clock.ts";
import { sizeScore } from "#shared/conversation-index.ts";
import { ownerOf, packed } from "#shared/conversation-record.ts";
import { ConversationId, ModelId, PoolName, RegionId, ReplicaId } from "#shared/ids.ts";
import { conversationKey, heldKey, KEYS, sizesKey } from "#shared/keys.ts";

export const LOADED_REGIONS = ["eu-central", "us-east", "ap-southeast", "us-west", "sa-east"].map((id) =>
  RegionId.parse(id),
);
export const LOADED_MODELS = [
  "meta-llama/Llama-3.3-70B-Instruct",
  "Qwen/Qwen2.5-Coder-32B-Instruct",
  "mistralai/Mistral-Small-24B-Instruct-2501",
  "deepseek-ai/DeepSeek-R1-Distill-Llama-70B",
].map((id) => ModelId.parse(id));
const POOL = PoolName.parse("chat");

/** Octets of a hash: the same conversations in every run. */
const diceOf = (at: number): Buffer => createHash("sha256").update(String(at)).digest();

export type Loaded = {
  readonly key: string;
  readonly value: string;
  readonly heldIn: string;
  readonly sizesIn: string;
  readonly size: number;
  readonly member: string;
  readonly lastTurnEpochMs: number;
};

/** Six of ten conversations have never moved, three moved once, one more often; of every fourth holding the replica is known. */
export const conversationAt = (at: number, clock: Clock): Loaded => {
  const dice = diceOf(at);
  const [first = 0, second = 0, third = 0, fourth = 0] = dice;
  const id = ConversationId.parse(
    [...dice.subarray(8, 21)].map((octet) => "0123456789abcdefghijklmnopqrstuv"[octet % 32]).join(""),
  );
  const lastTurnAtMs = clock.monotonicMs() - dice.readUInt16BE(4) * 13;
  const holding = (nth: number): Holding => ({
    region: LOADED_REGIONS[(second + nth) % LOADED_REGIONS.length] as RegionId,
    replica: (fourth + nth) % 4 === 0 ? ReplicaId.parse(`10.0.${third % 8}.${fourth}:8000/0`) : null,
    tokens: 500 + (dice.readUInt32BE(21) % 60_000),
    atMs: lastTurnAtMs - nth * dice.readUInt16BE(25) * 20,
  });
  const others = first % 10 < 6 ? [] : first % 10 < 9 ? [holding(1)] : [holding(1), holding(2)];
  const conversation: Conversation = {
    ...{ id, model: LOADED_MODELS[third % LOADED_MODELS.length] as ModelId, holdings: [holding(0), ...others] },
    ...{ turns: 1 + (third % 40), lastTurnAtMs, rev: 1 + (third % 40), refusedBy: [] },
  };
  return {
    key: conversationKey(id),
    value: packed(conversation, ownerOf(`tenant-${second}`, POOL), conversation.rev, clock.monotonicMs()),
    heldIn: heldKey(conversation.holdings[0].region),
    sizesIn: sizesKey(conversation.holdings[0].region),
    size: sizeScore(id, contextTokensOf(conversation)),
    member: id,
    lastTurnEpochMs: Math.floor(lastTurnAtMs + clock.epochMs() - clock.monotonicMs()),
  };
};

export type Piece = {
  /** Commands that set conversations. */
  readonly values: string;
  /** Commands that list the same conversations where they are at home, by last turn and by size. */
  readonly index: string;
};

const PIECE = 5_000;

export function* contents(count: number, clock: Clock): Generator<Piece> {
  for (let from = 0; from < count; from += PIECE) {
    const some = Array.from({ length: Math.min(PIECE, count - from) }, (_, at) => conversationAt(from + at, clock));
    yield {
      values: some.map(({ key, value }) => command("SET", key, value, "PX", String(KEYS.conversation.ttlMs))).join(""),
      index: some
        .map(
          (one) =>
            command("ZADD", one.heldIn, String(one.lastTurnEpochMs), one.member) +
            command("ZADD", one.sizesIn, String(one.size), one.member),
        )
        .join(""),
    };
  }
}

/** As RESP wants it; everything here is ASCII, so that characters are octets. */
const command = (...words: readonly string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;
