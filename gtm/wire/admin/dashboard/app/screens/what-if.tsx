/** Where would the latest turns go with other orders or another margin: before and after, and nothing is changed by asking. */
import { useState } from "preact/hooks";
import type { Status } from "#gtm/wire/admin/routes/status.ts";
import type { WhatIfAnswer } from "#gtm/wire/admin/what-if.ts";
import { call } from "../api.ts";
import { Command } from "../command.tsx";
import { hrefOf, type Place } from "../place.ts";
import { Refused, WithState } from "../state-box.tsx";
import { useApi } from "../use-api.ts";
import { useAttempt } from "../use-attempt.ts";
import { WhatIfResult } from "../what-if-result.tsx";
import { type WhatIfWish, whatIfAsked } from "../what-if-wish.ts";

const STATES = ["active", "drain-new", "drain-all", "down", "forced-up"] as const;
const KINDS = ["deny", "force", "drain-new", "drain-all"] as const;
const GLOBS = ["region", "pool", "model", "tenant"] as const;

export const WhatIfScreen = ({ place }: { readonly place: Place }) => {
  const status = useApi<Status>("/status", null);
  return (
    <>
      <h2>What if</h2>
      <p>
        The latest turns of this instance, decided again as of now with what you say here. Nothing is changed by asking.
      </p>
      <WithState known={status} what="list of regions">
        {({ regions }) => <Form place={place} regions={regions.map(({ id }) => id)} />}
      </WithState>
    </>
  );
};

type FormWish = { readonly place: Place; readonly regions: readonly string[] };

const Form = ({ place, regions }: FormWish) => {
  const [wish, setWish] = useState<WhatIfWish>(() => Object.fromEntries(place.filters));
  const [answer, setAnswer] = useState<WhatIfAnswer | null>(null);
  const { failure, attempt } = useAttempt();
  const set = (name: string) => (event: { currentTarget: HTMLInputElement | HTMLSelectElement }) => {
    setWish({ ...wish, [name]: event.currentTarget.value });
    setAnswer(null);
  };
  const { body, words } = whatIfAsked(wish, regions);
  const ask = async (): Promise<void> => {
    history.replaceState(null, "", hrefOf("what-if", "", wish));
    await attempt(async () => setAnswer((await call<WhatIfAnswer>({ method: "POST", path: "/what-if", body })).body));
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
        {regions.map((region) => (
          <label key={region}>
            {region}{" "}
            <select value={wish[`region.${region}`] ?? ""} onChange={set(`region.${region}`)}>
              <option value="">as it is</option>
              {STATES.map((state) => (
                <option key={state}>{state}</option>
              ))}
            </select>
          </label>
        ))}
        <label>
          Override{" "}
          <select value={wish["kind"] ?? ""} onChange={set("kind")}>
            <option value="">none more</option>
            {KINDS.map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </select>
        </label>
        {(wish["kind"] ?? "") !== "" &&
          GLOBS.map((name) => (
            <label key={name}>
              {name}{" "}
              <input
                class="short"
                required={name === "region"}
                value={wish[name] ?? ""}
                placeholder={name === "region" ? "eu-*" : "any"}
                onInput={set(name)}
              />
            </label>
          ))}
        <label>
          Margin, ms{" "}
          <input
            class="short"
            inputMode="numeric"
            pattern="[0-9]*"
            value={wish["margin"] ?? ""}
            placeholder="as it is"
            onInput={set("margin")}
          />
        </label>
        <button type="submit">Decide again</button>
      </form>
      <Command words={words} />
      <Refused failure={failure} />
      {answer !== null && <WhatIfResult answer={answer} />}
    </>
  );
};
