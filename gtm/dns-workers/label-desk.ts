/** Where threads ask for conversations' labels: each is looked up once a second, whichever thread asks, and all get what was found. */
import { regionOf } from "#gtm/domain/decision.ts";
import type { Ports } from "#gtm/steering/ports.ts";
import type { ConfirmLabel } from "#gtm/wire/dns/label-confirm.ts";
import type { FindLabel, FoundLabel } from "#gtm/wire/dns/label-finder.ts";
import { createStandingLabels } from "#gtm/wire/dns/standing-labels.ts";
import type { Logger } from "#shared/logger.ts";
import type { LabelAsk, LabelReply, ToThread } from "./messages.ts";

export type LabelDesk = {
  /** @param tell the thread that asks */
  readonly ask: (asked: readonly LabelAsk[], tell: (message: ToThread) => void) => void;
};

export type LabelDeskOptions = {
  readonly find: FindLabel;
  readonly ports: Pick<Ports, "world">;
  readonly confirm: ConfirmLabel;
  readonly log: Logger;
};

export const createLabelDesk = (options: LabelDeskOptions): LabelDesk => {
  const { find, confirm, ports, log } = options;
  const nowMs = (): number => ports.world().takenAtMs;
  const labels = createStandingLabels({ ports, find, confirm, nowMs, answerOf: withoutOthers });
  const replyTo = async ({ ask, label, clientSubnet }: LabelAsk): Promise<LabelReply> => {
    try {
      const found = labels.standing(label) ?? (await labels.lookUp(label, clientSubnet));
      // As old as it is here, so that no thread keeps it for longer than this one does.
      return { ask, found: found === null ? null : { ...found, atMs: labels.asOfMs(label) } };
    } catch (fault) {
      // A bug, and who asks still gets an answer: by what the label itself says.
      log.error("dns.label-failed", { fault: (fault instanceof Error && fault.stack) || String(fault) });
      return { ask, found: null };
    }
  };
  return {
    ask: (asked, tell) => {
      let found: LabelReply[] = [];
      const reply = (): void => {
        tell({ kind: "labels", found });
        found = [];
      };
      for (const one of asked) {
        void replyTo(one).then((answer) => {
          if (found.length === 0) setImmediate(reply);
          found.push(answer);
        });
      }
    },
  };
};

/** The regions that were not chosen are on record here, and much to copy. */
const withoutOthers = (label: FoundLabel): FoundLabel => {
  const { finding } = label;
  if (finding.kind === "stranger") return label;
  const { decision } = finding;
  const region = regionOf(decision.verdict);
  const considered = decision.considered.filter((one) => one.region === region);
  return { ...label, finding: { ...finding, decision: { ...decision, considered } } };
};
