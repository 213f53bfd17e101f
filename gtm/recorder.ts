/** What happens behind an answer: the record is kept, the pin is claimed, the turn is counted as on its way. */
import type { CellRegions } from "#gtm/datalayer/cell-regions.ts";
import type { ConversationStore } from "#gtm/datalayer/conversation-port.ts";
import type { Learning } from "#gtm/datalayer/learning.ts";
import type { WorldSource } from "#gtm/datalayer/world-source.ts";
import { regionOf } from "#gtm/domain/decision.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";

export type RecorderParts = {
  readonly source: Pick<WorldSource, "send">;
  readonly conversations: Pick<ConversationStore, "commit">;
  readonly learning: Pick<Learning, "sent">;
  readonly decisions: { readonly record: (entry: Entry) => void };
  readonly cells: Pick<CellRegions, "note">;
  readonly count: (entry: Entry) => void;
  readonly log: Logger;
  readonly metrics: Metrics;
};

/** @returns the port: it never throws, and waits for nothing */
export const createRecorder = (parts: RecorderParts): ((entry: Entry) => void) => {
  const lost = parts.metrics.counter({
    name: "gtm_records_lost_total",
    help: "Decisions that were answered and could not be recorded: a bug, told in the log.",
  });
  return (entry) => {
    try {
      parts.decisions.record(entry);
      parts.count(entry);
      parts.cells.note(entry);
      parts.conversations.commit(entry);
      parts.learning.sent(entry);
      sendOf(entry, parts.source);
    } catch (error) {
      // The answer is out: a fault in here must not become a fault of the answer.
      lost.inc();
      parts.log.error("record.bug", { stack: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  };
};

/** A redirected turn is on its way to its region; a DNS answer sends nobody by itself. */
const sendOf = ({ query, decision }: Entry, source: Pick<WorldSource, "send">): void => {
  if (query.kind !== "turn" || query.channel !== "http") return;
  const region = regionOf(decision.verdict);
  const chosen = decision.considered.find((one) => one.region === region);
  if (chosen?.kind !== "candidate") return;
  const { holder, arrivalAtMs, workMs } = chosen.plan;
  source.send(chosen.region, decision.turn.model, { replica: holder, arrivalAtMs, workMs });
};
