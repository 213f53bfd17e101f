/** A conversation's entry after a turn was measured here: what the region really holds, instead of what the GTM expected. */
import type { Owner, RecordedConversation, RecordedHolding, Unpacked } from "#shared/conversation-record.ts";
import type { ConversationId, ModelId, RegionId, ReplicaId } from "#shared/ids.ts";

/** What turns of one conversation left behind, the newest of them. */
export type Measured = {
  readonly id: ConversationId;
  /** As whoever sent the turn calls it. */
  readonly model: ModelId;
  /** Other names of the same model here; an entry under one of them is this one's. */
  readonly isSameModel: (model: ModelId) => boolean;
  readonly region: RegionId;
  readonly replica: ReplicaId;
  /** Of the whole context, prompt and output. */
  readonly tokens: number;
  /** When the newest turn came, monotonic ms: turns in parallel are in this order for everybody. */
  readonly atMs: number;
  /** How many turns no front has counted, as those by a label. */
  readonly turns: number;
  readonly owner: Owner;
};

const MOST_HOLDINGS = 3;
/** Turns that began closer together ran in parallel, and the home stays; the store tells ages to the second. */
const PARALLEL_MS = 1_000;
/** Each time an entry is written again its ages lose up to a second, and holdings seem newer; a few writers may be at it at once. */
const LATER_BY_MS = 5_000;
/** A front that sent a turn here did so within this time: a ticket lives 15 s and 5 s of leeway, a clock a second. */
const SENT_WITHIN_MS = 21_000;

/** Two measurements of one conversation that wait to be written: the newer one's holding, all turns. */
export const bothMeasured = (a: Measured, b: Measured): Measured => ({
  ...(b.atMs >= a.atMs ? b : a),
  turns: a.turns + b.turns,
});

/**
 * @param stored null: there is no entry, as with a label that nobody has used
 * @returns the entry to write on top of the stored revision
 */
export const afterMeasured = (stored: Unpacked | null, measured: Measured, keptForMs: number): Unpacked => {
  const before = stored === null || !isOf(stored.conversation, measured) ? null : stored.conversation;
  const own: RecordedHolding = {
    ...{ region: measured.region, replica: measured.replica, tokens: measured.tokens, atMs: measured.atMs },
  };
  const mine = before?.holdings.find(({ region }) => region === measured.region) ?? null;
  const others = before?.holdings.filter(({ region }) => region !== measured.region) ?? [];
  const holding = mine !== null && isLater(mine, measured) ? mine : own;
  const lastTurnAtMs = Math.max(measured.atMs, before?.lastTurnAtMs ?? measured.atMs);
  return {
    conversation: {
      id: measured.id,
      model: before?.model ?? measured.model,
      holdings: ordered(holding, others, before, lastTurnAtMs - keptForMs),
      turns: Math.max(1, (before?.turns ?? 0) + uncounted(mine, measured)),
      lastTurnAtMs,
      rev: stored?.conversation.rev ?? 0,
      refusedBy: [],
      // A turn that was on its way elsewhere when somebody ordered it moved does not undo the order.
      ...(before?.isHomeOrdered === true && before.holdings[0].region !== measured.region
        ? { isHomeOrdered: true as const }
        : {}),
    },
    owner: before === null || stored === null ? measured.owner : stored.owner,
  };
};

/** Another model's entry is void: its contexts are of no use to this one. */
const isOf = ({ model }: RecordedConversation, measured: Measured): boolean =>
  model === measured.model || measured.isSameModel(model);

/** Of a turn that came after the measured one: its own measurement is still to come. */
const isLater = (holding: RecordedHolding, { atMs }: Measured): boolean => holding.atMs - atMs >= LATER_BY_MS;

/** Where a front wrote lately that it sent a turn here, and nobody has measured that one yet, it has counted the newest. */
const uncounted = (mine: RecordedHolding | null, { turns, atMs }: Measured): number => {
  const isSent = mine !== null && mine.replica === null && Math.abs(atMs - mine.atMs) <= SENT_WITHIN_MS;
  return isSent ? Math.max(0, turns - 1) : turns;
};

/** Newest first; a home that is hardly older stays it. */
const ordered = (
  holding: RecordedHolding,
  others: readonly RecordedHolding[],
  before: RecordedConversation | null,
  oldestMs: number,
): RecordedConversation["holdings"] => {
  const kept = others.filter(({ atMs }) => atMs > oldestMs);
  const [newest = holding, ...older] = [holding, ...kept].sort((a, b) => b.atMs - a.atMs);
  const home = [newest, ...older].find(({ region }) => region === before?.holdings[0].region);
  const isParallel = home !== undefined && newest.atMs - home.atMs < PARALLEL_MS;
  const first = isParallel ? home : newest;
  return [first, ...[newest, ...older].filter((one) => one !== first).slice(0, MOST_HOLDINGS - 1)];
};
