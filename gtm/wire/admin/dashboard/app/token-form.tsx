/** A new token: what it would be first, then its name typed, then the token, this once. */
import { useState } from "preact/hooks";
import type { TokenMade } from "#gtm/wire/admin/routes/tokens.ts";
import { call } from "./api.ts";
import { Command } from "./command.tsx";
import { age } from "./quantity.ts";
import { limitsOf } from "./session.tsx";
import { Refused } from "./state-box.tsx";
import { useAttempt } from "./use-attempt.ts";

const ROLES = ["viewer", "operator", "admin", "acme"] as const;
const LIMITS = ["regions", "pools", "tenants"] as const;
const EMPTY = { name: "", role: "viewer", regions: "", pools: "", tenants: "", names: "", comment: "", for: "30d" };
type Wish = Readonly<Record<keyof typeof EMPTY, string>>;

const listIn = (text: string): readonly string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

const limitsIn = (wish: Wish) =>
  (wish.role === "acme" ? (["names"] as const) : LIMITS).filter((name) => listIn(wish[name]).length > 0);

const bodyOf = (wish: Wish): object => ({
  ...{ name: wish.name, role: wish.role, comment: wish.comment, for: wish.for },
  ...Object.fromEntries(limitsIn(wish).map((name) => [name, listIn(wish[name])])),
});

const wordsOf = (wish: Wish): readonly string[] => [
  ...["token", "create", "--server", location.origin, "--role", wish.role, "--name", wish.name],
  ...limitsIn(wish).flatMap((name) => [`--${name}`, listIn(wish[name]).join(",")]),
  ...["--for", wish.for, "--comment", wish.comment],
];

export const TokenForm = ({ onDone }: { readonly onDone: () => void }) => {
  const [wish, setWish] = useState<Wish>(EMPTY);
  const [plan, setPlan] = useState<TokenMade | null>(null);
  const [made, setMade] = useState<TokenMade | null>(null);
  const [typed, setTyped] = useState("");
  const { failure, attempt } = useAttempt();
  const ask = async (query: string): Promise<TokenMade> =>
    (await call<TokenMade>({ method: "POST", path: `/tokens${query}`, body: bodyOf(wish) })).body;
  const preview = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setTyped("");
    let planned: TokenMade | null = null;
    await attempt(async () => {
      planned = await ask("?dry_run=true");
    });
    setPlan(planned);
  };
  const give = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    await attempt(async () => {
      setMade(await ask(""));
      setPlan(null);
      setWish(EMPTY);
      onDone();
    });
  };
  const set = (name: keyof Wish) => (event: { currentTarget: HTMLInputElement | HTMLSelectElement }) => {
    setWish({ ...wish, [name]: event.currentTarget.value });
    setPlan(null);
  };
  if (made !== null) return <Once made={made} onSeen={() => setMade(null)} />;
  return (
    <section class="order" aria-label="A new token">
      <h3>A new one</h3>
      <form class="fields" onSubmit={(event) => void preview(event)}>
        <label>
          Whose
          <input class="short" required maxLength={128} value={wish.name} onInput={set("name")} />
        </label>
        <label>
          Role
          <select value={wish.role} onChange={set("role")}>
            {ROLES.map((role) => (
              <option key={role}>{role}</option>
            ))}
          </select>
        </label>
        {wish.role === "acme" ? (
          <label>
            Names, apart by commas
            <input value={wish.names} onInput={set("names")} />
          </label>
        ) : (
          LIMITS.map((name) => (
            <label key={name}>
              Only {name}
              <input class="short" placeholder="any" value={wish[name]} onInput={set(name)} />
            </label>
          ))
        )}
        <label>
          Why
          <input required maxLength={500} value={wish.comment} onInput={set("comment")} />
        </label>
        <label>
          For
          <input class="short" required value={wish.for} onInput={set("for")} />
        </label>
        <button type="submit">Preview</button>
      </form>
      <Command words={wordsOf(wish)} />
      <Refused failure={failure} />
      {plan !== null && (
        <div class="plan">
          <h3>A token for {plan.name}</h3>
          <p>
            Role {plan.role}; limited to {limitsOf(plan) || plan.names?.join(", ") || "nothing"}; ends in{" "}
            {age(plan.expiresInMs)}. It will be shown once.
          </p>
          <form onSubmit={(event) => void give(event)}>
            <label>
              <span>
                Type <strong>{plan.name}</strong> to make it
              </span>
              <input value={typed} autocomplete="off" onInput={(event) => setTyped(event.currentTarget.value)} />
            </label>
            <button type="submit" class="danger" disabled={typed !== plan.name}>
              Make it
            </button>
          </form>
        </div>
      )}
    </section>
  );
};

/** It is nowhere else: not in the address, not in the store, not in any log. */
const Once = ({ made, onSeen }: { readonly made: TokenMade; readonly onSeen: () => void }) => {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard?.writeText(made.token ?? "");
    setIsCopied(true);
  };
  return (
    <section class="order plan" aria-label="The new token">
      <h3>The token of {made.name}, shown this once</h3>
      <p>
        <output class="secret">{made.token}</output>{" "}
        <button type="button" onClick={() => void copy()}>
          {isCopied ? "copied" : "Copy"}
        </button>
      </p>
      <p class="quiet">
        Give it to its owner, who sets GTM_TOKEN to it or signs in here with it. Only its hash is kept.
      </p>
      <button type="button" onClick={onSeen}>
        I have it
      </button>
    </section>
  );
};
