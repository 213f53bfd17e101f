/** An order about a region: what it would do first, then a typed confirmation, then what was done. */
import { useState } from "preact/hooks";
import type { OrderPlan } from "#gtm/wire/admin/order-plan.ts";
import type { RegionView } from "#gtm/wire/admin/region-view.ts";
import { Command } from "./command.tsx";
import { ConfirmOrder, OrderRefusal } from "./confirm-order.tsx";
import { PacedPlan } from "./paced-plan.tsx";
import { PlanEffects } from "./plan-effects.tsx";
import { age } from "./quantity.ts";
import { orderAsked, ordersAfter, REGION_ORDERS, type RegionOrder } from "./region-orders.ts";
import { usePlanned } from "./use-planned.ts";

export const OrderForm = ({ region, onDone }: { readonly region: RegionView; readonly onDone: () => void }) => {
  const names = ordersAfter(region.admin);
  const [wanted, setWanted] = useState("");
  // Kept here: what may be ordered next is another form.
  const [done, setDone] = useState("");
  const name = names.includes(wanted) ? wanted : (names[0] ?? "");
  const chosen = REGION_ORDERS[name];
  if (chosen === undefined) return null;
  const ordered = (): void => {
    setDone(`Ordered of ${region.id}: ${chosen.title}.`);
    onDone();
  };
  return (
    <section class="order" aria-label={`Orders about ${region.id}`}>
      <h3>Order</h3>
      <label class="what">
        What{" "}
        <select
          value={name}
          onChange={(event) => {
            setWanted(event.currentTarget.value);
            setDone("");
          }}
        >
          {names.map((one) => (
            <option key={one} value={one}>
              {REGION_ORDERS[one]?.title}
            </option>
          ))}
        </select>
      </label>
      <Chosen key={name} region={region} chosen={chosen} onDone={ordered} />
      {done !== "" && (
        <p class="box good" role="status">
          {done}
        </p>
      )}
    </section>
  );
};

type ChosenWish = { readonly region: RegionView; readonly chosen: RegionOrder; readonly onDone: () => void };

const Chosen = ({ region, chosen, onDone }: ChosenWish) => {
  const [comment, setComment] = useState("");
  const [lasting, setLasting] = useState("2h");
  const [over, setOver] = useState("");
  const { path, body, words } = orderAsked(chosen, { region: region.id, comment, lasting, over });
  const planned = usePlanned<OrderPlan>({ path, body, onDone });
  const changing = (set: (text: string) => void) => (event: { currentTarget: HTMLInputElement }) => {
    set(event.currentTarget.value);
    planned.forget();
  };
  const { plan } = planned;
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void planned.preview();
        }}
      >
        <label>
          Why <input value={comment} required={!chosen.takesBack} maxLength={500} onInput={changing(setComment)} />
        </label>
        {!chosen.takesBack && (
          <label>
            For <input class="short" value={lasting} placeholder="until taken back" onInput={changing(setLasting)} />
          </label>
        )}
        {chosen.isPaced && (
          <label>
            Over <input class="short" value={over} placeholder="at next turns" onInput={changing(setOver)} />
          </label>
        )}
        <button type="submit">Preview</button>
      </form>
      <Command words={words} />
      <OrderRefusal planned={planned} />
      {plan !== null && (
        <div class="plan">
          <h3>
            {plan.from} → {plan.to}
            {plan.expiresInMs !== null && `, for ${age(plan.expiresInMs)}`}
          </h3>
          <PacedPlan paced={plan.paced} />
          <PlanEffects effects={plan} which={`at home in ${region.id}`} />
          <p class="note">
            Resolvers may go on giving the region for up to {plan.resolvers.lingerSeconds} s. {plan.resolvers.note}
          </p>
          <ConfirmOrder
            planned={planned}
            name={region.id}
            title={chosen.title}
            ifMatch={plan.etag}
            comment={comment}
            words={words}
          />
        </div>
      )}
    </>
  );
};
