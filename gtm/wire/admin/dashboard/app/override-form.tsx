/** A new override: what it would do first, then a typed confirmation. */
import { useState } from "preact/hooks";
import type { OverridePlan } from "#gtm/wire/admin/override-order.ts";
import { Command } from "./command.tsx";
import { ConfirmOrder, OrderRefusal } from "./confirm-order.tsx";
import { PlanEffects } from "./plan-effects.tsx";
import { usePlanned } from "./use-planned.ts";

const KINDS = ["deny", "force", "drain-new", "drain-all"] as const;
const GLOBS = ["region", "pool", "model", "tenant"] as const;
const EMPTY = { kind: "deny", region: "", pool: "*", model: "*", tenant: "*", comment: "", for: "2h" };

export const OverrideForm = ({ onDone }: { readonly onDone: () => void }) => {
  const [wish, setWish] = useState<Readonly<Record<string, string>>>(EMPTY);
  const planned = usePlanned<OverridePlan>({ path: "/overrides", body: wish, onDone });
  const set = (name: string) => (event: { currentTarget: HTMLInputElement | HTMLSelectElement }) => {
    setWish({ ...wish, [name]: event.currentTarget.value });
    planned.forget();
  };
  const options = Object.entries(wish).filter(([, value]) => value !== "*" && value !== "");
  const { plan } = planned;
  return (
    <section class="order" aria-label="A new override">
      <h3>A new one</h3>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void planned.preview();
        }}
      >
        <label>
          What
          <select value={wish["kind"]} onChange={set("kind")}>
            {KINDS.map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </select>
        </label>
        {GLOBS.map((name) => (
          <label key={name}>
            {name}
            <input class="short" required value={wish[name]} onInput={set(name)} />
          </label>
        ))}
        <label>
          Why
          <input required maxLength={500} value={wish["comment"]} onInput={set("comment")} />
        </label>
        <label>
          For
          <input class="short" required value={wish["for"]} onInput={set("for")} />
        </label>
        <button type="submit">Preview</button>
      </form>
      <Command words={["overrides", "add", ...options.flatMap(([name, value]) => [`--${name}`, value])]} />
      <OrderRefusal planned={planned} />
      {plan !== null && (
        <div class="plan">
          <h3>
            {plan.override.kind} {plan.regions.join(", ")}
          </h3>
          <PlanEffects effects={plan} which="known, at home in any region" />
          <ConfirmOrder planned={planned} name={plan.override.region} title="Order" ifMatch={null} />
        </div>
      )}
    </section>
  );
};
