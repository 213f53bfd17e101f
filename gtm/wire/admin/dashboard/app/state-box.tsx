/** What is shown instead of data, or above it: loading, empty, forbidden, away, stale; each looks different. */
import type { ComponentChildren } from "preact";
import type { Failure } from "./api.ts";
import { age } from "./quantity.ts";
import { signOut } from "./session.tsx";
import type { Known } from "./use-api.ts";
import { useNow } from "./use-now.ts";

/** Older than this much and asked for all the same, data is called stale. */
const STALE_AFTER_MS = 10_000;

type Wish<Body> = {
  readonly known: Known<Body>;
  /** What this is about, in the middle of a sentence. */
  readonly what: string;
  readonly children: (body: Body) => ComponentChildren;
};

export const WithState = <Body,>({ known, what, children }: Wish<Body>) => {
  const { body, atMs, failure } = known;
  const nowMs = useNow();
  if (body === null) {
    // Who is nobody is asked for a token around every screen.
    if (failure?.kind === "nobody") return null;
    if (failure?.kind === "forbidden") return <Forbidden detail={failure.detail} />;
    if (failure !== null) return <Refused failure={failure} />;
    return (
      <p class="box waiting" aria-busy="true">
        Asking for {what}.
      </p>
    );
  }
  const oldMs = atMs === null ? 0 : nowMs - atMs;
  return (
    <>
      {failure !== null && oldMs > STALE_AFTER_MS && (
        <p class="box stale" role="alert">
          {failure.detail} The {what} below is {age(oldMs)} old.
        </p>
      )}
      <div class={failure !== null && oldMs > STALE_AFTER_MS ? "old" : undefined}>{children(body)}</div>
    </>
  );
};

/** What the API said against it. */
export const Refused = ({ failure }: { readonly failure: Failure | null }) =>
  failure === null ? null : (
    <p class="box bad" role="alert">
      {failure.detail}
    </p>
  );

export const Empty = ({ children }: { readonly children: ComponentChildren }) => <p class="box empty">{children}</p>;

/** The API knows who asks, and says which role or limit is in the way. */
export const Forbidden = ({ detail }: { readonly detail: string }) => (
  <div class="box forbidden">
    <p role="alert">Not with this token. {detail}</p>
    <button type="button" onClick={signOut}>
      Sign in as somebody else
    </button>
  </div>
);
