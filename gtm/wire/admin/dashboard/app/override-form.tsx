/** A new override: what it would do first, then a typed confirmation. */
import { useState } from "preact/hooks";
import type { OverridePlan } from "#gtm/wire/admin/override-body.ts";
import { kindText } from "#gtm/wire/admin/override-kind.ts";
import { Command } from "./command.tsx";
import { ConfirmOrder, OrderRefusal } from "./confirm-order.tsx";
import { PacedPlan } from "./paced-plan.tsx";
import { PlanEffects } from "./plan-effects.tsx";
import { usePlanned } from "./use-planned.ts";

const KINDS = ["deny", "force", "drain-new", "drain-all", "share"] as const;
const GLOBS = ["region", "pool", "model", "tenant"] as const;
const EMPTY = {
  kind: "deny",
  share: "",
  region: "",
  pool: "*",
  model: "*",
  tenant: "*",
  comment: "",
  for: "2h",
  over: "",
};

/** As the API takes it: a share is a number, and no other kind has one. */
const bodyOf = ({ share, over, ...wish }: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> => ({
  ...wish,
  ...(wish["kind"] === "share" ? { share: Number(share) } : {}),
  ...(wish["kind"] === "drain-all" && over !== "" ? { over } : {}),
});

export const OverrideForm = ({ onDone }: { readonly onDone: () => void }) => {
  const [wish, setWish] = useState<Readonly<Record<string, string>>>(EMPTY);
  const planned = usePlanned<OverridePlan>({ path: "/overrides", body: bodyOf(wish), onDone });
  const set = (name: string) => (event: { currentTarget: HTMLInputElement | HTMLSelectElement }) => {
    setWish({ ...wish, [name]: event.currentTarget.value });
    planned.forget();
  };
  const options = Object.entries(wish).filter(
    ([name, value]) =>
      value !== "*" &&
      value !== "" &&
      (name !== "share" || wish["kind"] === "share") &&
      (name !== "over" || wish["kind"] === "drain-all"),
  );
  const words = ["overrides", "add", ...options.flatMap(([name, value]) => [`--${name}`, value])];
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
        {wish["kind"] === "share" && (
          <label>
            Share
            <input
              class="short"
              type="number"
              min="0"
              max="1"
              step="any"
              required
              value={wish["share"]}
              onInput={set("share")}
            />
          </label>
        )}
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
        {wish["kind"] === "drain-all" && (
          <label>
            Over
            <input class="short" value={wish["over"]} placeholder="at next turns" onInput={set("over")} />
          </label>
        )}
        <label>
          For
          <input class="short" required value={wish["for"]} onInput={set("for")} />
        </label>
        <button type="submit">Preview</button>
      </form>
      <Command words={words} />
      <OrderRefusal planned={planned} />
      {plan !== null && (
        <div class="plan">
          <h3>
            {kindText(plan.override)} {plan.regions.join(", ")}
          </h3>
          <PacedPlan paced={plan.paced} />
          <PlanEffects effects={plan} which="known and concerned" />
          <ConfirmOrder
            planned={planned}
            name={plan.override.region}
            title="Order"
            ifMatch={null}
            comment={wish["comment"] ?? ""}
            words={words}
          />
        </div>
      )}
    </section>
  );
};
