/** Who uses the page: signing in with a token that this tab alone keeps, and out. */
import { useState } from "preact/hooks";
import type { WhoAmI } from "#gtm/wire/admin/routes/status.ts";
import { setToken, tokenOf } from "./api.ts";
import { age } from "./quantity.ts";
import { useApi } from "./use-api.ts";

export const signOut = (): void => {
  setToken("");
  location.reload();
};

/** @param detail why whoever asks is nobody */
export const SignIn = ({ detail }: { readonly detail: string }) => {
  // One that is known no more is not sent again and again.
  const [said] = useState(() => {
    const had = tokenOf() !== "";
    setToken("");
    return had ? detail : null;
  });
  const [text, setText] = useState("");
  const enter = (event: SubmitEvent): void => {
    event.preventDefault();
    setToken(text.trim());
    location.reload();
  };
  return (
    <>
      <h2>Sign in</h2>
      {said !== null && (
        <p class="box warn" role="alert">
          Signed out. {said}
        </p>
      )}
      <form class="box sign-in" onSubmit={enter}>
        <label>
          <span>Token of the admin API</span>
          <input
            type="password"
            autocomplete="off"
            required
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Sign in</button>
        <p class="quiet">
          It is kept for this tab only. <code>gtm token create</code> makes one, and so does an admin under Tokens; one
          of your identity provider will do where the GTM is told to take it.
        </p>
      </form>
    </>
  );
};

const WHOAMI_MS = 30_000;
/** Whoever is on call hears of the end of their token before it comes. */
const ENDS_SOON_MS = 3_600_000;

export const useWhoAmI = (): WhoAmI | null => useApi<WhoAmI>("/whoami", WHOAMI_MS).body;

/** "regions eu-*; tenants acme"; "": not limited. */
export const limitsOf = ({ regions, pools, tenants }: Pick<WhoAmI, "regions" | "pools" | "tenants">): string =>
  Object.entries({ regions, pools, tenants })
    .flatMap(([what, globs]) => (globs === null ? [] : [`${what} ${globs.join(", ")}`]))
    .join("; ");

export const Session = ({ who }: { readonly who: WhoAmI | null }) => {
  if (who === null) return null;
  const limits = limitsOf(who);
  const endsSoon = who.expiresInMs !== null && who.expiresInMs < ENDS_SOON_MS;
  return (
    <p class="session">
      <strong>{who.name}</strong>{" "}
      <span class="quiet">
        ({who.role}
        {limits === "" ? "" : `; ${limits}`})
      </span>
      {endsSoon && <span class="warn"> ends in {age(who.expiresInMs)}</span>}
      {who.by !== "loopback" && (
        <>
          {" "}
          <button type="button" class="small" onClick={signOut}>
            Sign out
          </button>
        </>
      )}
    </p>
  );
};
