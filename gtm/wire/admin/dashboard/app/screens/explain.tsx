/** Where would this turn go, and why; nothing is recorded by asking. */
import { useState } from "preact/hooks";
import type { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import type { Status } from "#gtm/wire/admin/routes/status.ts";
import { call } from "../api.ts";
import { Command } from "../command.tsx";
import { DecisionText } from "../decision-text.tsx";
import { hrefOf, type Place } from "../place.ts";
import { Refused, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";
import { useAttempt } from "../use-attempt.ts";

const FIELDS = ["pool", "client", "model", "conversation", "tenant", "prompt_tokens"] as const;
type Field = (typeof FIELDS)[number];
const OPTIONS: Readonly<Record<Field, string>> = {
  pool: "--pool",
  client: "--client",
  model: "--model",
  conversation: "--conversation",
  tenant: "--tenant",
  prompt_tokens: "--prompt-tokens",
};

export const ExplainScreen = ({ place }: { readonly place: Place }) => {
  const status = useApi<Status>("/status", null);
  return (
    <>
      <h2>Explain</h2>
      <WithState known={status} what="list of pools">
        {({ pools }) => <Form place={place} pools={pools.map(({ name }) => name)} />}
      </WithState>
    </>
  );
};

const Form = ({ place, pools }: { readonly place: Place; readonly pools: readonly string[] }) => {
  const initial = Object.fromEntries(FIELDS.map((name) => [name, place.filters.get(name) ?? ""]));
  const [values, setValues] = useState<Readonly<Record<string, string>>>({
    ...initial,
    pool: initial["pool"] || (pools[0] ?? ""),
    client: initial["client"] || "203.0.113.7",
  });
  const [decision, setDecision] = useState<DecisionSchema | null>(null);
  const { failure, attempt } = useAttempt();
  const set = (name: Field) => (event: { currentTarget: HTMLInputElement | HTMLSelectElement }) =>
    setValues({ ...values, [name]: event.currentTarget.value });
  const said = FIELDS.filter((name) => values[name] !== undefined && values[name] !== "");
  const ask = async (): Promise<void> => {
    history.replaceState(null, "", hrefOf("explain", "", values));
    const body = Object.fromEntries(
      said.map((name) => [name, name === "prompt_tokens" ? Number(values[name]) : values[name]]),
    );
    await attempt(async () =>
      setDecision((await call<DecisionSchema>({ method: "POST", path: "/explain", body })).body),
    );
  };
  return (
    <>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <label>
          Pool{" "}
          <select value={values["pool"]} onChange={set("pool")}>
            {pools.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Client's address <input required value={values["client"]} onInput={set("client")} />
        </label>
        <label>
          Model <input value={values["model"]} placeholder="the pool's first" onInput={set("model")} />
        </label>
        <label>
          Conversation{" "}
          <input value={values["conversation"]} placeholder="none: a first turn" onInput={set("conversation")} />
        </label>
        <label>
          Tenant <input value={values["tenant"]} placeholder="default" onInput={set("tenant")} />
        </label>
        <label>
          Prompt tokens{" "}
          <input
            class="short"
            inputMode="numeric"
            pattern="[0-9]*"
            value={values["prompt_tokens"]}
            onInput={set("prompt_tokens")}
          />
        </label>
        <button type="submit">Explain</button>
      </form>
      <Command words={["explain", ...said.flatMap((name) => [OPTIONS[name], values[name] ?? ""])]} />
      <Refused failure={failure} />
      {decision !== null && <DecisionText decision={decision} />}
    </>
  );
};
