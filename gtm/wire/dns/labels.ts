/** What a conversation's label answers: the region that holds it, encoded once for as long as it stands. */
import type { Decision } from "#gtm/domain/decision.ts";
import type { Ports } from "#gtm/steering/ports.ts";
import type { ConfirmLabel } from "./label-confirm.ts";
import type { FindLabel, LabelFinding } from "./label-finder.ts";
import type { Render, Rendered } from "./render.ts";
import { createStandingLabels, type Standing } from "./standing-labels.ts";

export type StandingLabel =
  | {
      readonly kind: "home";
      readonly decision: Decision;
      readonly ipv4: Rendered;
      readonly ipv6: Rendered;
    }
  | Extract<LabelFinding, { readonly kind: "stranger" }>;

/** A label that was asked for; the same object as long as it is asked for, so that what was found of it is at hand. */
export type Labelled = {
  readonly kind: "label";
  /** Lower case, one character an octet. */
  readonly label: string;
  /** What was found last. */
  standing: Standing<StandingLabel> | null;
};

export const labelled = (label: string): Labelled => ({ kind: "label", label, standing: null });

export type LabelAnswers = {
  /** As StandingLabels says. */
  readonly standing: (of: Labelled) => StandingLabel | null;
  readonly lookUp: (label: string, clientSubnet: string) => Promise<StandingLabel> | null;
};

export type LabelOptions = {
  readonly ports: Pick<Ports, "world">;
  readonly find: FindLabel;
  readonly nowMs: () => number;
  readonly confirm: ConfirmLabel | null;
  readonly render: Render;
};

export const createLabelAnswers = ({ render, ...options }: LabelOptions): LabelAnswers => {
  const labels = createStandingLabels({
    ...options,
    answerOf: ({ finding }): StandingLabel => {
      if (finding.kind === "stranger") return finding;
      const { decision } = finding;
      return { kind: "home", decision, ipv4: render(decision, 4), ipv6: render(decision, 6) };
    },
  });
  return {
    standing: (of) => {
      if (of.standing === null || !labels.holds(of.standing)) {
        const last = labels.last(of.label);
        of.standing = last !== null && labels.holds(last) ? last : null;
      }
      return of.standing?.answer ?? null;
    },
    lookUp: labels.lookUp,
  };
};
