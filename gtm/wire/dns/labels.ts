/** What a conversation's label answers: the region that holds it, encoded once for as long as it stands. */
import type { Decision } from "#gtm/domain/decision.ts";
import type { Ports } from "#gtm/steering/ports.ts";
import type { ConfirmLabel } from "./label-confirm.ts";
import type { FindLabel, LabelFinding } from "./label-finder.ts";
import type { Render, Rendered } from "./render.ts";
import { createStandingLabels, type StandingLabels } from "./standing-labels.ts";

export type StandingLabel =
  | {
      readonly kind: "home";
      readonly decision: Decision;
      readonly ipv4: Rendered;
      readonly ipv6: Rendered;
    }
  | Extract<LabelFinding, { readonly kind: "stranger" }>;

export type LabelAnswers = StandingLabels<StandingLabel>;

export type LabelOptions = {
  readonly ports: Pick<Ports, "world">;
  readonly find: FindLabel;
  readonly nowMs: () => number;
  readonly confirm: ConfirmLabel | null;
  readonly render: Render;
};

export const createLabelAnswers = ({ render, ...options }: LabelOptions): LabelAnswers =>
  createStandingLabels({
    ...options,
    answerOf: ({ finding }): StandingLabel => {
      if (finding.kind === "stranger") return finding;
      const { decision } = finding;
      return { kind: "home", decision, ipv4: render(decision, 4), ipv6: render(decision, 6) };
    },
  });
