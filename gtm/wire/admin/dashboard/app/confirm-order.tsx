/** The last step of an order: its name is typed, and the safety rules that forbid it, where it is to pass them; then the button works. */
import { useState } from "preact/hooks";
import type { OrderEffects } from "#gtm/wire/admin/order-effects.ts";
import { Command } from "./command.tsx";
import type { Planned } from "./use-planned.ts";

type Wish = {
  readonly planned: Planned<OrderEffects>;
  /** What has to be typed. */
  readonly name: string;
  readonly title: string;
  readonly ifMatch: string | null;
  /** Why it is ordered; "": nothing was said. */
  readonly comment: string;
  /** The command line that orders it. */
  readonly words: readonly string[];
};

export const ConfirmOrder = ({ planned, name, title, ifMatch, comment, words }: Wish) => {
  const rules = [...new Set((planned.plan?.violations ?? []).map(({ rule }) => rule))].join(",");
  const [passed, setPassed] = useState("");
  const isPassing = rules !== "";
  const mayPass = !isPassing || (passed.trim() === rules && comment.trim() !== "");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void planned.give(ifMatch, isPassing ? rules : null);
      }}
    >
      <label>
        <span>
          Type <strong>{name}</strong> to order it
        </span>
        <input value={planned.typed} autocomplete="off" onInput={(event) => planned.type(event.currentTarget.value)} />
      </label>
      {isPassing && (
        <>
          <label>
            <span>
              Type <strong>{rules}</strong> to do it although that forbids it
            </span>
            <input value={passed} autocomplete="off" onInput={(event) => setPassed(event.currentTarget.value)} />
          </label>
          <p class="note">
            {comment.trim() === ""
              ? "Say above why, and preview it again: a safety rule is passed by nobody without a word."
              : "Log, audit and metrics keep who passed which rule, and why."}
          </p>
          <Command words={[...words, "--override-rule", rules]} />
        </>
      )}
      <button type="submit" class="danger" disabled={planned.typed !== name || !mayPass}>
        {isPassing ? `${title}, passing ${rules}` : title}
      </button>
    </form>
  );
};

/** What was said against it. */
export const OrderRefusal = ({ planned }: { readonly planned: Planned<OrderEffects> }) =>
  planned.failure === null ? null : (
    <p class="box bad" role="alert">
      {planned.failure.rule !== null && `The safety rule ${planned.failure.rule} refuses it now: preview it again. `}
      {planned.failure.detail}
    </p>
  );
