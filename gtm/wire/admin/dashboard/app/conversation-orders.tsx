/** Orders about one conversation: have its next turn go elsewhere, after a preview, or forget where it is at home. */
import { useState } from "preact/hooks";
import type { MovePlan } from "#gtm/wire/admin/conversation-plan.ts";
import type { ConversationDetail } from "#gtm/wire/admin/conversation-view.ts";
import type { RegionView } from "#gtm/wire/admin/region-view.ts";
import { ApiError, call } from "./api.ts";
import { Command } from "./command.tsx";
import { ConfirmTyped } from "./confirm-typed.tsx";
import { hrefOf } from "./place.ts";
import { count, milliseconds } from "./quantity.ts";
import { Refused } from "./state-box.tsx";
import { useApi } from "./use-api.ts";
import { usePlanned } from "./use-planned.ts";

type Wish = { readonly one: ConversationDetail; readonly onDone: () => void };

export const ConversationOrders = ({ one, onDone }: Wish) => (
  <>
    <Move one={one} onDone={onDone} />
    <Release one={one} onChanged={onDone} />
  </>
);

const Move = ({ one, onDone }: Wish) => {
  const regions = useApi<{ readonly items: readonly RegionView[] }>("/regions", null);
  const others = (regions.body?.items ?? []).filter(({ id }) => id !== one.home).map(({ id }) => id);
  const [chosen, setChosen] = useState("");
  const [comment, setComment] = useState("");
  const region = chosen === "" ? (others[0] ?? "") : chosen;
  const planned = usePlanned<MovePlan>({ path: `/conversations/${one.id}/move`, body: { region, comment }, onDone });
  return (
    <section class="order">
      <h3>Have its next turn go elsewhere</h3>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void planned.preview();
        }}
      >
        <label>
          To
          <select
            value={region}
            onChange={(event) => {
              setChosen(event.currentTarget.value);
              planned.forget();
            }}
          >
            {others.map((id) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
        <label>
          Why
          <input
            value={comment}
            required={true}
            onInput={(event) => {
              setComment(event.currentTarget.value);
              planned.forget();
            }}
          />
        </label>
        <button type="submit" disabled={region === ""}>
          Preview
        </button>
      </form>
      <Refused failure={planned.failure} />
      {planned.plan !== null && (
        <div class="plan">
          <PlanText plan={planned.plan} />
          <ConfirmTyped
            name={one.id}
            title={`Move it to ${region}`}
            onConfirm={() => planned.give(planned.plan?.etag ?? null)}
          />
        </div>
      )}
      <Command words={["conversations", "move", one.id, "--to", region, "--comment", comment]} />
    </section>
  );
};

const PlanText = ({ plan }: { readonly plan: MovePlan }) => (
  <>
    <p>
      Its next turn goes from {plan.from} to <strong>{plan.to}</strong>, which computes {count(plan.recomputeTokens)} of{" "}
      {count(plan.contextTokens)} tokens again: first token in <strong>{milliseconds(plan.ttftMs)}</strong>
      {plan.unmoved.region === null
        ? "; without the order no region would serve it."
        : `, against ${milliseconds(plan.unmoved.ttftMs)} in ${plan.unmoved.region} without the order.`}
    </p>
    <p>
      {plan.afterwards.isMovedBack ? "The turn after that would leave again. " : "The turn after that would stay. "}
      {plan.afterwards.explanation}
    </p>
    {!plan.isLocated && (
      <p class="note">This instance remembers no decision about it: every region counts as equally far.</p>
    )}
  </>
);

type ReleaseWish = {
  readonly one: ConversationDetail;
  /** It is not what is shown. */
  readonly onChanged: () => void;
};

const Release = ({ one, onChanged }: ReleaseWish) => {
  const [said, setSaid] = useState<string | null>(null);
  const release = async (): Promise<void> => {
    try {
      await call({ method: "DELETE", path: `/conversations/${one.id}`, ifMatch: `"${one.rev}"` });
      // There is nothing left to show of it.
      location.hash = hrefOf("conversations");
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      setSaid(cause.failure.detail);
      onChanged();
    }
  };
  return (
    <section class="order">
      <h3>Forget where it is at home</h3>
      <p class="note">Its next turn is placed anew, and what is held of it counts for nothing.</p>
      {said !== null && (
        <p class="box bad" role="alert">
          {said}
        </p>
      )}
      <ConfirmTyped name={one.id} title="Release it" onConfirm={release} />
      <Command words={["conversations", "release", one.id]} />
    </section>
  );
};
