/** An order's way: previewed, agreed to by a typed name, given; and what was said against it. */
import { useState } from "preact/hooks";
import { call, type Failure } from "./api.ts";
import { useAttempt } from "./use-attempt.ts";

export type Planned<Plan> = {
  readonly plan: Plan | null;
  readonly failure: Failure | null;
  readonly typed: string;
  readonly type: (text: string) => void;
  /** The wish changed: what was previewed says nothing of it. */
  readonly forget: () => void;
  readonly preview: () => Promise<void>;
  /**
   * @param ifMatch what was previewed; null: whatever it is by now
   * @param rules safety rules that are passed, with commas between them; null: none
   */
  readonly give: (ifMatch: string | null, rules?: string | null) => Promise<void>;
};

type Wish = { readonly path: string; readonly body: unknown; readonly onDone: () => void };

export const usePlanned = <Plan extends object>({ path, body, onDone }: Wish): Planned<Plan> => {
  const [plan, setPlan] = useState<Plan | null>(null);
  const { failure, attempt: tried, forget: forgetFailure } = useAttempt();
  const [typed, type] = useState("");
  const forget = (): void => {
    setPlan(null);
    forgetFailure();
    type("");
  };
  const attempt = (act: () => Promise<void>): Promise<void> => {
    forgetFailure();
    return tried(act);
  };
  return {
    ...{ plan, failure, typed, type, forget },
    preview: () =>
      attempt(async () => setPlan((await call<Plan>({ method: "POST", path: `${path}?dry_run=true`, body })).body)),
    give: (ifMatch, rules = null) =>
      attempt(async () => {
        // What was previewed, and nothing else: the API refuses it once that no longer holds.
        const said = new URLSearchParams({
          ...(plan !== null && "planId" in plan ? { plan_id: String(plan.planId) } : {}),
          ...(rules === null ? {} : { override_rule: rules }),
        });
        await call({
          method: "POST",
          path: said.size === 0 ? path : `${path}?${said}`,
          body,
          ...(ifMatch === null ? {} : { ifMatch }),
        });
        forget();
        onDone();
      }),
  };
};
